import type { PermissionLevel } from "./permission-level.ts";
import { serverResource, toolResource } from "./resource-name.ts";

/** How often a person is asked about the tools of one connection. */
export const consentModes = ["ask-per-server", "ask-per-tool", "allow-all"] as const;
export type ConsentMode = (typeof consentModes)[number];

export interface ConsentFacts {
  readonly serverName: string;
  readonly toolName: string;
  readonly level: PermissionLevel | undefined;
  readonly mode: ConsentMode;
  /** The server's claims about the tool; a claim alone never skips a question. */
  readonly claimsReadOnly: boolean;
  readonly claimsDestructive: boolean;
  /** The entry says that this server's claim to be read-only may be believed. */
  readonly skipReadOnlyPrompts: boolean;
  /** Keys `mcp:{server}` and `mcp:{server}:{tool}` that hold in this session for exactly this definition. */
  readonly allowances: ReadonlySet<string>;
  /** A stored grant of this agent for exactly this definition of the tool. */
  readonly isGranted: boolean;
  /** The agent's set of capabilities allows `mcp:{server}:{tool}`. */
  readonly isCapable: boolean;
  /** The session is a child of one that would have to ask: only what it was itself allowed counts then. */
  readonly isParentAsked: boolean;
}

/** Which rule of consent decided: recorded with every call, silent permissions included. */
export type ConsentRule =
  /** A tool of the program itself that asks for no consent. */
  | "native"
  | "yolo"
  /** The program gave the session this right in place of a level, and with it its own consent. */
  | "capability"
  | "allow-all"
  | "grant"
  | "read-only"
  | "tool-allowed"
  | "server-allowed"
  | "ask";

/** The first rule that settles it; `ask` when none does. */
export function decideConsent(facts: ConsentFacts): ConsentRule {
  const { serverName, toolName, allowances } = facts;
  const standing = facts.isParentAsked ? undefined : standingRule(facts);
  if (standing !== undefined) return standing;
  if (allowances.has(toolResource(serverName, toolName))) return "tool-allowed";
  const isServerEnough = facts.mode === "ask-per-server" && !facts.claimsDestructive;
  if (isServerEnough && allowances.has(serverResource(serverName))) return "server-allowed";
  return "ask";
}

/** What lets a call pass without any answer in this session. */
function standingRule(facts: ConsentFacts): ConsentRule | undefined {
  if (facts.level === "yolo") return "yolo";
  // Beside a level a set only narrows: then it is the level that says whether a person is asked.
  if (facts.level === undefined && facts.isCapable) return "capability";
  if (facts.mode === "allow-all") return "allow-all";
  if (facts.isGranted) return "grant";
  if (facts.skipReadOnlyPrompts && facts.claimsReadOnly && !facts.claimsDestructive)
    return "read-only";
  return undefined;
}
