const plainText = /^[\u0021-\u007E](?:[\t\u0020-\u007E]*[\u0021-\u007E])?$/;

/** A value as header text; what is not plain ASCII travels as `=?base64?…?=`, as the specification says. */
export function encodeHeaderValue(value: string): string {
  const looksEncoded = value.startsWith("=?base64?") && value.endsWith("?=");
  if (plainText.test(value) && !looksEncoded) return value;
  return `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}
