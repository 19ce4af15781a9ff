/** A line of a secret this short may be any word: masking it would spoil every text. */
const minLineChars = 8;

/**
 * The texts by which a secret is recognised where it is repeated: whole, without its authorization
 * scheme, as part of an address or of JSON, and line by line without the spaces around it, since output is
 * read in lines and the value of a header is trimmed.
 */
export function secretForms(secret: string): readonly string[] {
  const credential = secret.replace(/^(?:Bearer|Basic|Token)\s+/i, "");
  // Through a buffer, because a lone surrogate cannot be encoded.
  const inAddress = encodeURIComponent(Buffer.from(credential).toString());
  const inJson = JSON.stringify(credential).slice(1, -1);
  const lines = credential.split(/\r?\n|\r/).map((line) => line.trim());
  const longLines = lines.filter(({ length }) => length >= minLineChars);
  return [
    ...new Set([secret, credential, inAddress, inJson, ...longLines].filter((it) => it !== "")),
  ];
}
