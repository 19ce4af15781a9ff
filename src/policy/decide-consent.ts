import type { PermissionLevel } from "./permission-level.ts";

export interface ConsentFacts {
  readonly serverName: string;
  readonly toolName: string;
  readonly level: PermissionLevel | undefined;
  /** The server's claims about the tool; a claim alone never skips a question. */
  readonly claimsReadOnly: boolean;
  readonly claimsDestructive: boolean;
  /** The entry says that this server's claim to be read-only may be believed. */
  readonly skipReadOnlyPrompts: boolean;
  /** Keys `mcp:{server}` and `mcp:{server}:{tool}` a person granted for this session. */
  readonly allowances: ReadonlySet<string>;
}

/** Whether a person must be asked before this call. */
export function needsConsent(facts: ConsentFacts): boolean {
  if (facts.level === "yolo") return false;
  if (facts.skipReadOnlyPrompts && facts.claimsReadOnly && !facts.claimsDestructive) return false;
  if (facts.allowances.has(toolAllowance(facts.serverName, facts.toolName))) return false;
  return facts.claimsDestructive || !facts.allowances.has(serverAllowance(facts.serverName));
}

export function serverAllowance(serverName: string): string {
  return `mcp:${escapeName(serverName)}`;
}

export function toolAllowance(serverName: string, toolName: string): string {
  return `mcp:${escapeName(serverName)}:${toolName}`;
}

/** A server may be called "a:b"; its key must not read as tool "b" of server "a". */
function escapeName(name: string): string {
  return name.replaceAll("%", "%25").replaceAll(":", "%3A");
}
