/** At most `limit` UTF-16 units, ending in `…` when something was cut; never splits a surrogate pair. */
export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = Math.max(0, limit - 1);
  const last = text.charCodeAt(cut - 1);
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, isHighSurrogate ? cut - 1 : cut)}…`;
}

/** The longest prefix of `text` that fits in `maxBytes` of UTF-8 without splitting a character. */
export function truncateBytes(text: string, maxBytes: number): { text: string; cut: boolean } {
  // Every UTF-16 unit is at most three bytes, so short texts need no encoding.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes)
    return { text, cut: false };
  const bytes = Buffer.from(text, "utf8");
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { text: bytes.toString("utf8", 0, end), cut: true };
}
