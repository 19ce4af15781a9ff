// What errors say to write into an entry of a server over HTTP. Apart from those errors, because the host uses these
// texts as well, and loads nothing else of HTTP before a server needs it.

/** An entry's `auth` to copy, with a variable that is named after the server. */
export function sampleAuth(serverName: string): string {
  return `"auth": { "type": "bearer", "token": "\${${variableFor(serverName)}}" }`;
}

/** A name for the variable that holds the token of a server. */
export function variableFor(serverName: string): string {
  const words = serverName.toUpperCase().match(/[A-Z0-9]+/g) ?? [];
  const name = words
    .join("_")
    .replace(/^(?=\d)/, "_")
    .slice(0, 40);
  return name === "" ? "TOKEN" : `${name}_TOKEN`;
}

export const withoutMethodHint =
  'leave out "method": messages are POSTed either way, and a stream that the server has is used';
