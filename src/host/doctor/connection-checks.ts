import { looksSecret } from "../../config/variables/secret-values.ts";
import type { ErrorCode } from "../../errors/error-codes.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { isTlsProblem, tlsFix } from "../../transport/http/http-errors.ts";
import type { ServerStatus } from "../host.ts";
import type { CheckId } from "./check-texts.ts";
import { type DoctorParts, type Found, ok, problemOf } from "./check.ts";

/** One attempt to connect a server: how it is now, and why that failed if it did. */
export interface Attempt {
  readonly status: ServerStatus;
  readonly error: McpError | undefined;
  readonly elapsedMs: number;
}

/** A check that an attempt to connect answers, in the order in which a connection comes about. */
interface ConnectionCheck {
  readonly id: CheckId;
  /** Tells what was seen of an attempt that came past this point; undefined where it does not apply. */
  readonly passed: (attempt: Attempt, parts: DoctorParts) => Found | undefined;
}

export const connectionChecks: readonly ConnectionCheck[] = [
  {
    id: "reachable",
    passed: ({ status }) => {
      const url = urlOf(status);
      return url === undefined ? undefined : ok(`${url.host} answers`);
    },
  },
  {
    id: "tls",
    passed: ({ status }, { machine }) => {
      if (urlOf(status)?.protocol !== "https:") return undefined;
      const extra = machine.hostEnv["NODE_EXTRA_CA_CERTS"];
      return ok(extra === undefined ? "it is" : `it is, with the CAs of ${extra}`);
    },
  },
  {
    id: "auth",
    passed: ({ status }) => (urlOf(status) === undefined ? undefined : accepted(status)),
  },
  { id: "answers", passed: ({ status, elapsedMs }) => ok(identityOf(status, elapsedMs)) },
];

/** Answers the checks that come before a connection is there, as far as the attempt shows. */
export function* connectionFindings(
  attempt: Attempt,
  parts: DoctorParts,
): Generator<readonly [CheckId, Found]> {
  const { error } = attempt;
  const blamed = error === undefined ? undefined : blamedCheck(error);
  for (const { id, passed } of hasAnswered(error) ? connectionChecks : []) {
    if (id === blamed) break;
    const found = passed(attempt, parts);
    if (found !== undefined) yield [id, found];
  }
  if (error !== undefined && blamed !== undefined) yield [blamed, explain(error)];
}

/** Whether the other end was reached, so that what comes before its answer is known to work. */
function hasAnswered(error: McpError | undefined): boolean {
  if (error === undefined || typeof error.details["status"] === "number") return true;
  return ["http_error", "protocol_violation", "rpc_error"].includes(error.code);
}

const blamedByCode: Partial<Record<ErrorCode, CheckId>> = {
  command_not_found: "command",
  variable_unset: "variables",
  blocked_address: "address",
  auth_required: "auth",
  auth_failed: "auth",
  auth_redirect_mismatch: "auth",
  auth_client_rejected: "auth",
  auth_endpoint_unreachable: "auth",
  auth_scope_missing: "auth",
  auth_denied: "auth",
  not_approved: "approved",
  server_disabled: "enabled",
};

/** The check that a failure to connect is the answer to. */
export function blamedCheck({ code, details }: McpError): CheckId {
  const known = blamedByCode[code];
  if (known !== undefined) return known;
  if (details["transport"] === "stdio" || code !== "unreachable") return "answers";
  const { errorCode } = details;
  if (details["proxy"] !== undefined) return "proxy";
  return typeof errorCode === "string" && isTlsProblem(errorCode) ? "tls" : "reachable";
}

/** Where a name leads nowhere, nobody has got as far as a port or a firewall. */
const nameFixes: Readonly<Record<string, string>> = {
  ENOTFOUND:
    'correct the host in "url"; a name of an internal network is known only in that network',
  EAI_AGAIN: "check the network and its DNS server, then try again",
};

function explain(error: McpError): Found {
  const found = problemOf(error);
  const { errorCode } = error.details;
  const fix =
    typeof errorCode === "string" ? (nameFixes[errorCode] ?? tlsFix(errorCode)) : undefined;
  return fix === undefined ? found : { ...found, fix };
}

function urlOf({ config }: ServerStatus): URL | undefined {
  if (!("url" in config.transport)) return undefined;
  const text = config.transport.url.toString();
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Says what the server let us in with. */
function accepted({ config: { auth, transport } }: ServerStatus): Found {
  if (auth.type === "bearer") return ok("the token of the entry is accepted");
  const headers = "headers" in transport ? Object.entries(transport.headers) : [];
  const shown = headers.find(([name, value]) => looksSecret(name, value.toString()));
  if (shown !== undefined) return ok(`the header "${shown[0]}" is accepted`);
  return ok("it asks for none");
}

function identityOf(status: ServerStatus, elapsedMs: number): string {
  const { transport, protocolVersion, serverInfo } = status;
  return [
    transport,
    ...(protocolVersion === undefined ? [] : [`MCP ${protocolVersion}`]),
    ...(serverInfo === undefined ? [] : [`${serverInfo.name} ${serverInfo.version}`]),
    `${(elapsedMs / 1_000).toFixed(1)} s`,
  ].join(", ");
}
