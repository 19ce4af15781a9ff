import type { SignInExamination } from "../../auth/examine-sign-in.ts";
import type { SignInStatus } from "../../auth/server-sign-in.ts";
import { errorTable } from "../../errors/error-codes.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { CheckId } from "./check-texts.ts";
import { type DoctorParts, type Found, ok, problem, problemOf, warning } from "./check.ts";
import type { Attempt } from "./connection-checks.ts";

/** The checks of a sign-in, in the order in which one comes about. */
export const signInChecks = [
  "issuer",
  "redirect",
  "client",
  "clock",
  "auth",
  "sign-in",
] as const satisfies readonly CheckId[];

type SignInFinding = readonly [(typeof signInChecks)[number], Found];

/** More than this, and tokens seem to end before they do, or are used after their end. */
const maxSkewMs = 60_000;

/**
 * Looks at the sign-in of a server that has one or wants one: what it needs, and how the present one is. Signs nobody
 * in. A server that lets everybody in has nothing to look at.
 */
export async function signInFindings(
  { status: { name, config }, error }: Attempt,
  { logins, clock }: DoctorParts,
  signal: AbortSignal,
): Promise<readonly SignInFinding[]> {
  if (!("url" in config.transport)) return [];
  const isWanted =
    error !== undefined && errorTable[error.code].family === "auth" && isDescribed(error);
  try {
    const signIn = await logins.status(name);
    if (!isWanted && signIn === undefined && config.auth.type !== "oauth") return [];
    const examined = signIn?.grant === "pasted" ? undefined : await logins.examine(name, signal);
    return [
      ...(examined === undefined ? [] : examinationFindings(examined)),
      ...(signIn === undefined ? [] : statusFindings(signIn, clock.now(), error)),
    ];
  } catch (failure) {
    if (!McpError.is(failure)) throw failure;
    return [["sign-in", problemOf(failure)]];
  }
}

/** A server that answers 401 and names nobody who issues tokens has no sign-in to look at. */
function isDescribed({ code, details }: McpError): boolean {
  const { status, authorizationServer } = details;
  return code !== "auth_required" || status === undefined || authorizationServer !== undefined;
}

function* examinationFindings(examined: SignInExamination): Generator<SignInFinding> {
  const { issuer = "the issuer", failure, redirect, client, clockAheadMs } = examined;
  yield ["issuer", failure === undefined ? ok(`${issuer} answers`) : problemOf(failure)];
  if (redirect !== undefined) yield ["redirect", describeRedirect(redirect, issuer)];
  if (client !== undefined) yield ["client", describeClient(client, issuer)];
  if (clockAheadMs !== undefined) yield ["clock", describeClock(clockAheadMs, issuer)];
}

function describeRedirect(
  { uri, isFixed, problem: obstacle }: NonNullable<SignInExamination["redirect"]>,
  issuer: string,
): Found {
  if (obstacle !== undefined)
    return problem(`${uri}: ${obstacle.message}`, obstacle.code, obstacle.hint);
  return ok(
    isFixed
      ? `it returns to ${uri}, which must be registered at ${issuer} exactly so`
      : `it returns to ${uri}, with a port that is chosen at each sign-in`,
  );
}

function describeClient(
  { origin, isAccepted, problem: refusal }: NonNullable<SignInExamination["client"]>,
  issuer: string,
): Found {
  const which =
    origin === "configured" ? "the client of the entry" : "the client that was registered";
  if (refusal !== undefined) return problemOf(refusal);
  return isAccepted === true
    ? ok(`${issuer} accepts ${which}`)
    : warning(`${issuer} does not say whether it accepts ${which}`, "nothing, if a sign-in works");
}

/** Says how far two clocks are apart: this machine is so much ahead of the issuer, or behind. */
export function describeClock(aheadMs: number, issuer: string): Found {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  if (Math.abs(aheadMs) <= maxSkewMs) return ok(`${seconds} s apart`);
  return warning(`this machine is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} ${issuer}`);
}

function* statusFindings(
  status: SignInStatus,
  now: number,
  error: McpError | undefined,
): Generator<SignInFinding> {
  const { issuer, account, grant, scopes, missingScopes, issuedAt, expiresAt, canRenew } = status;
  const who = account === undefined ? "" : ` as ${account}`;
  const where = grant === "pasted" ? "with a token that somebody gave" : `at ${issuer}`;
  if (error === undefined) yield ["auth", ok(`the sign-in${who} ${where} is accepted`)];
  const facts = [
    `signed in${who} ${where}`,
    `token ${ageText(now - issuedAt)} old`,
    expiresAt === undefined
      ? "without an end that is known"
      : now < expiresAt
        ? `ends in ${ageText(expiresAt - now)}`
        : `ended ${ageText(now - expiresAt)} ago`,
    canRenew ? "renewed by itself" : "not renewed",
    `granted: ${scopes.length === 0 ? "not said" : scopes.join(" ")}`,
    ...(missingScopes.length === 0 ? [] : [`not granted: ${missingScopes.join(" ")}`]),
  ].join(", ");
  const hasEnded = expiresAt !== undefined && now >= expiresAt && !canRenew;
  if (hasEnded) yield ["sign-in", problem(facts, "auth_required")];
  else yield ["sign-in", missingScopes.length === 0 ? ok(facts) : warning(facts)];
}

function ageText(milliseconds: number): string {
  const minutes = Math.round(Math.max(0, milliseconds) / 60_000);
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2_880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1_440)} d`;
}
