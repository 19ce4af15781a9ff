import type { TransportKind } from "../../config/keys/server-config.ts";
import type { ErrorCode } from "../../errors/error-codes.ts";
import { createError } from "../../errors/families.ts";
import { McpError, type McpErrorOptions } from "../../errors/mcp-error.ts";
import { ownCommand } from "../../text/own-command.ts";
import { sanitizeLine } from "../reading/sanitize-line.ts";

/** Who is at the other end, as far as error messages need to know. */
export interface HttpPeer {
  readonly kind: TransportKind;
  readonly serverName: string;
  readonly url: URL;
  /** Values that must never appear in a message. */
  readonly secrets: readonly string[];
  /** The header of the entry by which it shows who is calling, as written there; undefined without one. */
  readonly credential?: string | undefined;
}

/** `host:port`, with the port of the scheme when the URL names none. */
export function peerAddress({ url }: HttpPeer): string {
  return `${url.hostname}:${url.port || (url.protocol === "https:" ? "443" : "80")}`;
}

export function peerError(
  peer: HttpPeer,
  code: ErrorCode,
  message: string,
  options: McpErrorOptions = {},
): McpError {
  return createError(code, message, {
    ...options,
    serverName: peer.serverName,
    details: { transport: peer.kind, ...options.details },
  });
}

/** Server text as a message may hold it. */
export function quote(peer: HttpPeer, text: string, maxChars = 200): string {
  return sanitizeLine(text.trim(), maxChars, peer.secrets);
}

export function tooLarge(peer: HttpPeer, maxBytes: number): McpError {
  return peerError(peer, "too_large", `the answer is larger than ${maxBytes} bytes`, {
    details: { maxBytes },
  });
}

const unknownIssuer = "was issued by an authority this machine does not know";
const certificateProblems: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "has expired",
  CERT_NOT_YET_VALID: "is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "is self-signed",
  ERR_TLS_CERT_ALTNAME_INVALID: "is for another host",
  SELF_SIGNED_CERT_IN_CHAIN: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownIssuer,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownIssuer,
};

/** What to do about a certificate whose issuer this machine does not know. */
export const unknownIssuerFix =
  "name the CA that issued it, before Plugboard starts: export NODE_EXTRA_CA_CERTS=/path/to/ca.pem";
const wrongSchemeFix = 'write http:// in place of https:// into "url", or let the server speak TLS';
const certificateFixes: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "renew the certificate of the server; or set the clock of this machine right",
  CERT_NOT_YET_VALID: "set the clock of this machine right",
  ERR_TLS_CERT_ALTNAME_INVALID: 'write the name that the certificate is for into "url"',
};

/** What to do about a failed TLS handshake, by the system's error code; undefined for codes of other failures. */
export function tlsFix(code: string): string | undefined {
  if (!isTlsProblem(code)) return undefined;
  if (!Object.hasOwn(certificateProblems, code)) return wrongSchemeFix;
  return certificateFixes[code] ?? unknownIssuerFix;
}

/** Whether a system's error code says that the certificate of the other end is not trusted, or that it speaks no TLS. */
export function isTlsProblem(code: string): boolean {
  return (
    Object.hasOwn(certificateProblems, code) || code === "EPROTO" || code.startsWith("ERR_SSL_")
  );
}

/** Why no connection came about, in plain words. */
function connectProblem(peer: HttpPeer, code: string | undefined): string {
  const where = peerAddress(peer);
  switch (code) {
    case "ECONNREFUSED":
      return `connection refused at ${where} (nothing is listening)`;
    case "ENOTFOUND":
      return `there is no host named ${peer.url.hostname}`;
    case "EAI_AGAIN":
      return `the name ${peer.url.hostname} could not be looked up (DNS does not answer)`;
    case "ETIMEDOUT":
    case "UND_ERR_CONNECT_TIMEOUT":
      return `no connection to ${where} (it does not answer)`;
    case "EHOSTUNREACH":
    case "ENETUNREACH":
    case "EADDRNOTAVAIL":
      return `there is no route to ${where}`;
    case "EPROTO":
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
      return `${where} does not speak TLS (http:// instead of https://?)`;
    case "ECONNRESET":
    case "EPIPE":
    case "UND_ERR_SOCKET":
      return `${where} closed the connection at once`;
    case undefined:
      return `no connection to ${where}`;
    default: {
      const problem = certificateProblems[code];
      return problem === undefined
        ? `no connection to ${where} (${code})`
        : `the certificate of ${where} ${problem}`;
    }
  }
}

/** Failures after the request was on its way, when the outcome is known to be something else than unknown. */
function answerProblem(
  peer: HttpPeer,
  code: string | undefined,
): readonly [ErrorCode, string] | undefined {
  const where = peerAddress(peer);
  switch (code) {
    case "UND_ERR_HEADERS_TIMEOUT":
      return ["timeout", `no answer from ${where} in time`];
    case "UND_ERR_BODY_TIMEOUT":
      return ["timeout", `${where} stopped in the middle of its answer`];
    case "UND_ERR_HEADERS_OVERFLOW":
      return ["too_large", `the headers of the answer from ${where} are too large`];
    case "UND_ERR_INVALID_ARG":
      return ["invalid_arguments", "the message cannot be sent over HTTP"];
    case "UND_ERR_CLOSED":
    case "UND_ERR_DESTROYED":
      return ["closed", "the connection was closed"];
    case undefined:
      return undefined;
    default:
      return code.startsWith("HPE_") ? ["http_error", `${where} does not speak HTTP`] : undefined;
  }
}

/**
 * The typed form of what the network reported, told by error code alone. Once a request may have
 * left, a broken connection is `connection_lost`: nobody knows whether the server acted on it.
 */
export function networkError(peer: HttpPeer, error: unknown, isSent: boolean): McpError {
  if (McpError.is(error)) return error;
  const code = codeOf(error);
  const options = { cause: error, details: code === undefined ? {} : { errorCode: code } };
  const problem = answerProblem(peer, code);
  if (problem !== undefined) return peerError(peer, problem[0], problem[1], options);
  if (!isSent) {
    const hint =
      code === "ECONNREFUSED"
        ? `start it, then: ${ownCommand("test", peer.serverName)}`
        : tlsFix(code ?? "");
    return peerError(peer, "unreachable", connectProblem(peer, code), { ...options, hint });
  }
  const message = `the connection to ${peerAddress(peer)} broke before the answer was complete`;
  return peerError(peer, "connection_lost", message, options);
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { code } = error as { code?: unknown };
  if (typeof code === "string") return code;
  // undici leaves the code out when its parser has none for the case.
  if (error instanceof Error && error.name === "HTTPParserError") return "HPE_INVALID";
  // A host with several addresses fails once for each of them.
  return error instanceof AggregateError ? codeOf(error.errors[0]) : undefined;
}
