/**
 * At most `limit` UTF-16 units, ending in `…` when something was cut. It never splits a surrogate pair and
 * leaves no joiner or variation selector behind without what it belongs to.
 */
export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let cut = Math.max(0, limit - 1);
  while (cut > 0 && needsNext(text.charCodeAt(cut - 1))) cut -= 1;
  return `${text.slice(0, cut)}…`;
}

/** Half of a surrogate pair, a joiner, or the selector in front of one or of a keycap. */
function needsNext(unit: number): boolean {
  return (
    (unit >= 0xd800 && unit <= 0xdbff) || unit === 0x200c || unit === 0x200d || unit === 0xfe0f
  );
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
