import type { SignInStatus } from "../../auth/server-sign-in.ts";
import { formatMoment } from "./duration.ts";

/** Who is signed in, with whom, what for and until when: `as me@example.com · auth.example.com · mcp · until …`. */
export function signInWords(status: SignInStatus): string {
  const { account, issuer, scopes } = status;
  const who = account === undefined ? [] : [`as ${account}`];
  const what = scopes.length === 0 ? [] : [scopes.join(" ")];
  return [...who, status.grant === "pasted" ? "with your token" : issuer, ...what, endWords(status)]
    .filter((part) => part !== "")
    .join(" · ");
}

/** When a sign-in ends, as far as its issuer said so. */
function endWords({ expiresAt, canRenew }: SignInStatus): string {
  if (expiresAt === undefined) return canRenew ? "renewed by itself" : "";
  return `until ${formatMoment(expiresAt)}${canRenew ? ", then renewed by itself" : ""}`;
}

/** What was asked for and not granted; undefined when all was. */
export function missingWords({ missingScopes }: SignInStatus): string | undefined {
  return missingScopes.length === 0 ? undefined : `not granted: ${missingScopes.join(" ")}`;
}

/** A sign-in in `--json` output; moments are milliseconds since the epoch. */
export function signInObject(status: SignInStatus): Readonly<Record<string, unknown>> {
  const { issuer, grant, account, scopes, missingScopes, canRenew } = status;
  const { signedInAt, issuedAt, expiresAt } = status;
  return {
    issuer,
    grant,
    ...(account === undefined ? {} : { account }),
    scopes,
    missingScopes,
    canRenew,
    signedInAt,
    issuedAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}
