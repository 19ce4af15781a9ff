const plainText = /^[\u0021-\u007E](?:[\t\u0020-\u007E]*[\u0021-\u007E])?$/;
const encodedText = /^=\?base64\?.*\?=$/s;

/** A value as header text; what is not plain ASCII travels as `=?base64?…?=`, as the specification says. */
export function encodeHeaderValue(value: string): string {
  if (plainText.test(value) && !encodedText.test(value)) return value;
  return `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}
