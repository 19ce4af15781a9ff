/**
 * How rights name what they are about: `mcp:{server}` for a whole server, `mcp:{server}:{tool}` for one
 * tool of it, both by the names the server's entry and the server itself use, never by a public alias.
 */
export function serverResource(serverName: string): string {
  return `mcp:${escapeServerName(serverName)}`;
}

export function toolResource(serverName: string, toolName: string): string {
  return `mcp:${escapeServerName(serverName)}:${escapeWildcards(toolName)}`;
}

/** A server may be called "a:b"; its key must not read as tool "b" of server "a". */
function escapeServerName(name: string): string {
  return escapeWildcards(name).replaceAll(":", "%3A");
}

/** A server or tool may be called "*"; in a right, "*" stands for all of them. */
function escapeWildcards(name: string): string {
  return name.replaceAll("%", "%25").replaceAll("*", "%2A");
}
