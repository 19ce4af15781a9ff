/**
 * How rights name what they are about: `mcp:{server}` for a whole server, `mcp:{server}:{tool}` for one
 * tool of it, both by the names the server's entry and the server itself use, never by a public alias.
 */
export function serverResource(serverName: string): string {
  return `mcp:${escapeName(serverName)}`;
}

export function toolResource(serverName: string, toolName: string): string {
  return `mcp:${escapeName(serverName)}:${toolName}`;
}

/** A server may be called "a:b"; its key must not read as tool "b" of server "a". */
function escapeName(name: string): string {
  return name.replaceAll("%", "%25").replaceAll(":", "%3A");
}
