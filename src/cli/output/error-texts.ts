import { type ConfigProblem, formatProblem } from "../../config/keys/config-problem.ts";
import type { ErrorCode } from "../../errors/error-codes.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { ownCommand, type OwnCommandName } from "../../text/own-command.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import { formatDuration, roundLimit } from "./duration.ts";

/** What can be told about a failure beside its message, as far as its details hold it. */
export type FactName = "command" | "from" | "searched" | "configured" | "stderr" | "try";

export interface ErrorText {
  /** The whole first sentence. */
  readonly headline: (error: McpError) => string;
  /** Facts worth telling, in this order. */
  readonly facts: readonly FactName[];
  /** What to do next, where the error's own hint is not what helps on the command line. */
  readonly next?: (error: McpError) => string | undefined;
}

const messageOnly = ({ message }: McpError): string => message;
const sentence = (error: McpError): string =>
  withSuggestions(error, (names) => ` Did you mean: ${names}?`);

function withSuggestions(error: McpError, suggest: (names: string) => string): string {
  const names = neutralizeLine(textsIn(error, "suggestions").join(", "));
  return `${error.message}.${names === "" ? "" : suggest(names)}`;
}

const withServer = ({ serverName, message }: McpError): string =>
  serverName === undefined ? message : `${serverName}: ${message}`;

function withTool(error: McpError): string {
  const { toolName } = error.details;
  if (typeof toolName !== "string") return withServer(error);
  return `${error.serverName}.${neutralizeLine(toolName)}: ${error.message}`;
}

/** What is wrong in a file is told with its place in front, so that editors can jump to it. */
function problemLines(error: McpError): string {
  const problems = (error.details["problems"] ?? []) as readonly ConfigProblem[];
  if (problems.length === 0) return withServer(error);
  return problems.map((problem) => formatProblem(problem)).join("\n");
}

/** Files that could not be read come first: the server may be in one of them. */
function unknownServer(error: McpError): string {
  const problems = (error.details["problems"] ?? []) as readonly ConfigProblem[];
  const told = problems.map((problem) => `${formatProblem(problem)} (file ignored)`);
  return [sentence(error), ...told].join("\n");
}

const testIt = (error: McpError): string => nextCommand("test", error);

/** What to type about the server that an error is about. */
function nextCommand(
  command: OwnCommandName,
  { serverName }: McpError,
  options: readonly string[] = [],
): string {
  if (serverName !== undefined) return ownCommand(command, serverName, options);
  return ["plugboard", command, "<name>", ...options].join(" ");
}

/** Twice the time that was not enough. */
function moreTime({ details: { timeoutMs } }: McpError): string {
  return `--timeout ${formatDuration(typeof timeoutMs === "number" ? timeoutMs * 2 : 60_000)}`;
}

/** What a process printed about its failure, as far as the command line needs it. */
interface Printed {
  readonly kind?: unknown;
  readonly stream?: unknown;
  readonly lines?: unknown;
  readonly advice?: unknown;
}

export function printedIn({ details }: McpError): Printed {
  const { printedCause } = details;
  return typeof printedCause === "object" && printedCause !== null ? printedCause : {};
}

/** Causes whose lines say it all; any other has a sentence of its own. */
const plainCauses: ReadonlySet<unknown> = new Set([
  "error",
  "variable-missing",
  "request-refused",
  "output",
]);

/** The lines of what it printed follow below, and are not repeated here. */
function endOfProcess(error: McpError): string {
  const { ended } = error.details;
  if (typeof ended !== "string" || !plainCauses.has(printedIn(error).kind))
    return withServer(error);
  return error.serverName === undefined ? ended : `${error.serverName}: ${ended}`;
}

/** The error's own hint, and how to see whether it helped. */
function thenTest(error: McpError): string {
  return error.hint === undefined ? testIt(error) : `${error.hint}, then: ${testIt(error)}`;
}

/** What a failed process says is to be done, then the same again. */
function afterMending(error: McpError): string | undefined {
  const { kind, advice } = printedIn(error);
  if (typeof advice !== "string" || kind === "output") return undefined;
  return `${advice}, then: ${testIt(error)}`;
}

/** A process that says nothing is not a network that does not answer. */
function silence(error: McpError): string {
  const { transport, phase, received, timeoutMs } = error.details;
  const { kind } = printedIn(error);
  // The error has a sentence about what was recognised, and about text on stdout.
  if (kind !== undefined && !plainCauses.has(kind)) return withServer(error);
  const isMute = transport === "stdio" && received === 0 && phase !== "start";
  if (!isMute || typeof timeoutMs !== "number") return withServer(error);
  const within = `no answer to ${String(phase)} within ${roundLimit(timeoutMs) / 1_000} s`;
  const seen = textsIn(error, "stdoutHead").length === 0 ? "nothing" : "no MCP message";
  return `${error.serverName}: ${within} (process is running, ${seen} on stdout)`;
}

function reachIt(error: McpError): string | undefined {
  const { transport, errorCode } = error.details;
  if (transport === "stdio") return error.hint;
  if (errorCode === "ECONNREFUSED") return `start it, then: ${testIt(error)}`;
  return `${error.hint ?? "check its address"}, then: ${testIt(error)}`;
}

/** Says that it is the server's answer, not what was typed, that breaks the schema of a tool. */
function brokenResult(error: McpError): string {
  const { toolName, reason, problems } = error.details;
  const isSchemaBroken = typeof reason === "string" && Array.isArray(problems);
  if (typeof toolName !== "string" || !isSchemaBroken) return withServer(error);
  const tool = [error.serverName, neutralizeLine(toolName)].filter(Boolean).join(".");
  return `${tool}: the answer does not fit the schema of the tool: ${reason}`;
}

const plain: ErrorText = { headline: withServer, facts: ["try"] };
const ofProcess: ErrorText = { headline: endOfProcess, facts: ["command", "stderr", "try"] };

/** What is missing is `${input:…}` or `${secret:…}`, which no shell can export. */
function isNoVariable({ details }: McpError): boolean {
  const { variable } = details;
  return typeof variable === "string" && /^(?:input|secret):/.test(variable);
}

/** How the command line puts each failure; the compiler asks for a text when a code is added. */
export const errorTexts: Readonly<Record<ErrorCode, ErrorText>> = {
  config_invalid: {
    headline: problemLines,
    facts: ["from", "try"],
    next: (error) =>
      error.details["isTaken"] === true
        ? `choose another name, or change it: ${nextCommand("edit", error)}`
        : error.hint,
  },
  server_unknown: { headline: unknownServer, facts: ["configured"] },
  server_disabled: {
    headline: messageOnly,
    facts: ["from", "try"],
    next: (error) => nextCommand("connect", error),
  },
  variable_unset: {
    ...plain,
    next: (error) => `${isNoVariable(error) ? error.hint : "export it"}, then: ${testIt(error)}`,
  },

  command_not_found: { headline: withServer, facts: ["from", "searched", "try"] },
  start_exit: {
    ...ofProcess,
    next: (error) => {
      const { advice = "run the command by hand to see what it does" } = printedIn(error);
      return `${String(advice)}, then: ${testIt(error)}`;
    },
  },
  unreachable: { ...plain, next: reachIt },
  connection_lost: { ...ofProcess, next: testIt },
  protocol_violation: ofProcess,
  sandbox_unavailable: plain,

  blocked_address: plain,
  http_error: { ...plain, next: thenTest },
  too_large: plain,

  auth_required: plain,
  auth_failed: {
    ...plain,
    next: (error) => (error.hint === undefined ? nextCommand("login", error) : thenTest(error)),
  },
  auth_redirect_mismatch: plain,
  auth_client_rejected: plain,
  auth_endpoint_unreachable: plain,
  auth_scope_missing: plain,
  auth_denied: plain,

  start_timeout: {
    headline: silence,
    facts: ["stderr", "try"],
    next: (error) => afterMending(error) ?? nextCommand("test", error, [moreTime(error)]),
  },
  timeout: {
    headline: withServer,
    facts: ["stderr", "try"],
    // A browser that does not come back needs no more time, but the address that it knows.
    next: (error) => (error.details["redirectUri"] === undefined ? moreTime(error) : error.hint),
  },

  tool_unknown: {
    headline: (error) =>
      `${withSuggestions(error, (names) => ` Closest: ${names}.`)}  Nothing was run.`,
    facts: ["try"],
    // Whoever is told the name that was meant needs no list.
    next: (error) =>
      textsIn(error, "suggestions").length === 0 ? nextCommand("tools", error) : undefined,
  },
  tool_error: { headline: withTool, facts: ["try"] },
  rpc_error: plain,

  invalid_arguments: { headline: sentence, facts: ["try"] },
  invalid_result: { headline: brokenResult, facts: ["try"] },
  schema_refused: plain,

  denied: plain,
  not_approved: {
    headline: messageOnly,
    facts: ["from", "try"],
    next: (error) => nextCommand("approve", error),
  },
  consent_denied: plain,
  definition_changed: {
    ...plain,
    next: (error) => `see what it is now: ${nextCommand("approve", error)}`,
  },

  not_connected: plain,
  closed: plain,
  store_failed: plain,
  secret_unavailable: plain,

  cancelled: { headline: withServer, facts: [] },
};

/** The list of texts that `details` holds under `key`; empty when there is none. */
export function textsIn({ details }: McpError, key: string): readonly string[] {
  return textsOf(details[key]);
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
}
