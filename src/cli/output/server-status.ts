import { formatOrigin } from "../../config/keys/config-problem.ts";
import type { ServerState } from "../../events/host-event.ts";
import type { ServerStatus } from "../../host/host.ts";
import { ownCommand } from "../../text/own-command.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import { displayPath, displayPathsIn, type Standpoint } from "./display-path.ts";
import { formatAge } from "./duration.ts";
import { missingWords, signInObject } from "./sign-in-words.ts";

/** Sign and word of each state: the sign alone is never relied on. */
const stateWords: Readonly<Record<ServerState, string>> = {
  connected: "● connected",
  connecting: "◐ connecting",
  reconnecting: "◐ reconnecting",
  needs_auth: "◐ sign-in needed",
  pending: "⏸ not approved",
  disconnected: "✗ disconnected",
  error: "⚠ error",
  idle: "○ idle",
  disabled: "○ disabled",
};

/** The words for a working server with tools that are held back: `changed` if definitions changed. */
const changedWord = "▲ changed";
const heldBackWord = "▲ held back";

export function stateWord(state: ServerState): string {
  return stateWords[state];
}

export function statusWord(status: ServerStatus): string {
  const { quarantined, suspect } = status;
  if (!hasHeldBackTools(status)) return stateWord(status.state);
  return quarantined.length > suspect.length ? changedWord : heldBackWord;
}

function hasHeldBackTools({ state, quarantined }: ServerStatus): boolean {
  return (state === "connected" || state === "idle") && quarantined.length > 0;
}

/** The widest word, for tables that are written row by row. */
export const widestStateWord = Math.max(...Object.values(stateWords).map((word) => word.length));

/** Names the place of an entry: `.plugboard/mcp.json:7`, or its layer. */
export function displayOrigin(
  { provenance }: Pick<ServerStatus, "provenance">,
  standpoint: Standpoint,
): string {
  const { path } = provenance;
  return formatOrigin(
    path === undefined ? provenance : { ...provenance, path: displayPath(path, standpoint) },
  );
}

/** Why a server waits for approval, and what to do about it. */
export function pendingNote(status: ServerStatus, standpoint: Standpoint): string {
  const what = status.changedSinceApproval ? "changed" : "new";
  const { waitsToReplace: other } = status;
  const replaces =
    other === undefined
      ? ""
      : `, would replace ${displayOrigin({ provenance: other }, standpoint)}`;
  return `${what} in ${displayOrigin(status, standpoint)}${replaces} → ${ownCommand("approve", status.name, [], standpoint.program)}`;
}

/** Which tools nobody is offered, and what to do about it; undefined when all are. */
export function quarantineNote(
  { name, quarantined, suspect }: ServerStatus,
  { program }: Pick<Standpoint, "program">,
): string | undefined {
  if (quarantined.length === 0) return undefined;
  const changed = quarantined.filter((tool) => !suspect.includes(tool));
  const reasons = [
    heldBack(changed, { one: "changed", many: "changed" }),
    heldBack(suspect, { one: "reads like an attack", many: "read like an attack" }),
  ].filter((text) => text !== undefined);
  return `${reasons.join("; ")} → ${ownCommand("approve", name, [], program)}`;
}

const maxNamedTools = 3;
const maxNameLength = 40;

function heldBack(
  tools: readonly string[],
  reason: { readonly one: string; readonly many: string },
): string | undefined {
  const [only, ...others] = tools.map((tool) => boundedLine(tool, maxNameLength));
  if (only === undefined) return undefined;
  if (others.length === 0) return `1 tool ${reason.one} and is held back: ${only}`;
  const named = [only, ...others.slice(0, maxNamedTools - 1)].join(", ");
  const left = tools.length - maxNamedTools;
  const more = left > 0 ? ` and ${left} more` : "";
  return `${tools.length} tools ${reason.many} and are held back: ${named}${more}`;
}

/** How many of its tools are offered: `4`, or `3/4` when one of four is held back. */
export function toolCounts({ toolCount, quarantined }: ServerStatus): string | undefined {
  if (toolCount === undefined || quarantined.length === 0) return toolCount?.toString();
  return `${toolCount - quarantined.length}/${toolCount}`;
}

/** The same in words: `8 tools`, `3/4 tools`. */
export function toolsText(status: ServerStatus): string {
  return `${toolCounts(status) ?? 0} ${status.toolCount === 1 ? "tool" : "tools"}`;
}

/**
 * What a person should know about a server beside its state, and what to do about it. Whoever has just tried it gives no
 * `now`; with it a failure is told with its age, and with where to read more of it.
 */
export function statusNote(status: ServerStatus, standpoint: Standpoint, now?: number): string {
  const { state, provenance, problems, protocolVersion } = status;
  if (hasHeldBackTools(status)) return quarantineNote(status, standpoint) ?? "";
  switch (state) {
    case "pending":
      return pendingNote(status, standpoint);
    case "disabled":
      return displayOrigin(status, standpoint);
    case "needs_auth":
      return signInNote(status, standpoint);
    case "disconnected":
    case "error":
      return failureNote(status, standpoint, now);
    case "connected": {
      const version = protocolVersion === undefined ? [] : [`MCP ${protocolVersion}`];
      const count = problems.length;
      const trouble = count === 0 ? [] : [`${count} ${count === 1 ? "problem" : "problems"}`];
      return [...version, ...trouble, ...signInNotes(status, standpoint)].join(", ");
    }
    case "idle":
    case "connecting":
    case "reconnecting":
      if (provenance.layer === "demo") return "bundled, to try things out";
      return signInNotes(status, standpoint).join(", ");
  }
}

/** What ends the wait for a sign-in. Only its people can give a token for a server that says of no page. */
function signInNote({ name, lastError }: ServerStatus, { program }: Standpoint): string {
  const details = lastError?.details ?? {};
  const isSilent = details["status"] !== undefined && details["authorizationServer"] === undefined;
  return ownCommand("login", name, isSilent ? ["--token", "-"] : [], program);
}

/** Who is signed in to a server that works, in a few words; nothing where nobody is. */
function signInNotes(status: ServerStatus, standpoint: Standpoint): readonly string[] {
  const { signIn } = status;
  if (signIn === undefined) return [];
  const { account, issuer, grant, expiresAt, canRenew } = signIn;
  if (!canRenew && expiresAt !== undefined && expiresAt <= Date.now())
    return [`sign-in ended → ${signInNote(status, standpoint)}`];
  const who = account === undefined ? `at ${issuer}` : `as ${account}`;
  const missing = missingWords(signIn);
  return [
    grant === "pasted" ? "signed in with your token" : `signed in ${who}`,
    ...(missing === undefined ? [] : [missing]),
  ];
}

function failureNote(status: ServerStatus, standpoint: Standpoint, now?: number): string {
  const { name, state, lastError, failedAt } = status;
  const reason = displayPathsIn(lastError?.message ?? "", standpoint);
  const isOld = now !== undefined && failedAt !== undefined;
  const age = isOld ? `, ${formatAge(now - failedAt)} ago` : "";
  // What it printed does not mend an entry.
  const next = isOld && state === "disconnected" ? "logs" : "test";
  return `${reason}${age} → ${ownCommand(next, name, [], standpoint.program)}`;
}

/** A server in `--json` output. */
export interface ServerObject {
  readonly name: string;
  readonly state: ServerState;
  readonly transport: string;
  /** Command line or address, without secrets. */
  readonly target: string;
  readonly scope: string;
  readonly file?: string;
  readonly line?: number;
  /** Number of tools; absent until the server has listed them. */
  readonly tools?: number;
  /** It waits for approval and is not what was approved under its name before. */
  readonly changedSinceApproval?: true;
  /** The file, or else the scope, of the entry in force that it would replace once it is approved. */
  readonly waitsToReplace?: string;
  /** Names of tools that nobody is offered before a person has looked at them. */
  readonly quarantined?: readonly string[];
  /** Those of them that are new and read like an attack; the others changed. */
  readonly suspect?: readonly string[];
  readonly protocolVersion?: string;
  readonly serverInfo?: unknown;
  /** Who is signed in to it. */
  readonly signIn?: Readonly<Record<string, unknown>>;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    /** When, in milliseconds since the epoch. */
    readonly at?: number;
  };
}

export function serverObject(status: ServerStatus): ServerObject {
  const { name, state, transport, target, provenance, lastError, failedAt } = status;
  const { toolCount, protocolVersion, serverInfo } = status;
  return {
    name,
    state,
    transport,
    target,
    scope: provenance.layer,
    ...(provenance.path === undefined ? {} : { file: provenance.path }),
    ...(provenance.line === undefined ? {} : { line: provenance.line }),
    ...(toolCount === undefined ? {} : { tools: toolCount }),
    ...(status.changedSinceApproval ? { changedSinceApproval: true } : {}),
    ...(status.waitsToReplace === undefined
      ? {}
      : { waitsToReplace: status.waitsToReplace.path ?? status.waitsToReplace.layer }),
    ...(status.quarantined.length === 0 ? {} : { quarantined: status.quarantined }),
    ...(status.suspect.length === 0 ? {} : { suspect: status.suspect }),
    ...(protocolVersion === undefined ? {} : { protocolVersion }),
    ...(serverInfo === undefined ? {} : { serverInfo }),
    ...(status.signIn === undefined ? {} : { signIn: signInObject(status.signIn) }),
    ...(lastError === undefined
      ? {}
      : {
          error: {
            code: lastError.code,
            message: lastError.message,
            ...(failedAt === undefined ? {} : { at: failedAt }),
          },
        }),
  };
}
