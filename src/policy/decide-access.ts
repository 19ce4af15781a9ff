import type { ErrorCode } from "../errors/error-codes.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { PermissionLevel } from "./permission-level.ts";

/** What decides whether a server may be started or contacted at all. */
export interface LaunchFacts {
  readonly serverName: string;
  readonly isEnabled: boolean;
  readonly isLaunchApproved: boolean;
}

/** What the chain looks at: facts only, so that a verdict can be explained and tested as a table. */
export interface AccessFacts extends LaunchFacts {
  /** The server is shared, or the agent's own. */
  readonly isVisible: boolean;
  readonly level: PermissionLevel | undefined;
}

export type AccessRule = "enabled" | "approval" | "visibility" | "level";

export type AccessDecision =
  | { readonly isAllowed: true }
  | {
      readonly isAllowed: false;
      readonly rule: AccessRule;
      readonly code: ErrorCode;
      readonly reason: string;
      readonly hint?: string;
    };

export type Denial = Extract<AccessDecision, { isAllowed: false }>;
type Rule<Facts> = (facts: Facts) => Denial | undefined;

const allowed: AccessDecision = { isAllowed: true };

const launchRules: readonly Rule<LaunchFacts>[] = [
  ({ isEnabled, serverName }) =>
    isEnabled
      ? undefined
      : {
          isAllowed: false,
          rule: "enabled",
          code: "server_disabled",
          reason: `server "${serverName}" is disabled`,
          hint: 'set "enabled": true in its entry',
        },
  ({ isLaunchApproved, serverName }) =>
    isLaunchApproved
      ? undefined
      : {
          isAllowed: false,
          rule: "approval",
          code: "not_approved",
          reason: `server "${serverName}" comes from a project file and has not been approved`,
          hint: "read its entry; naming its file with --config, or host.approve() in code, approves it",
        },
];

/** In the order of the design: the first rule that objects decides. */
const accessRules: readonly Rule<AccessFacts>[] = [
  ...launchRules,
  ({ isVisible, serverName }) =>
    isVisible
      ? undefined
      : {
          isAllowed: false,
          rule: "visibility",
          code: "server_unknown",
          reason: `no server "${serverName}"`,
        },
  ({ level }) =>
    level === "yolo" || level === "trusted"
      ? undefined
      : {
          isAllowed: false,
          rule: "level",
          code: "denied",
          reason:
            level === undefined
              ? "the agent has no permission level, so it may not use MCP servers"
              : "agents of level sandboxed may not use MCP servers",
          hint: 'give the session a level: "trusted" asks, "yolo" does not',
        },
];

/** Before anything is started: `list`, `status` and `doctor` never get past this for a pending server. */
export function decideLaunch(facts: LaunchFacts): AccessDecision {
  return firstDenial(launchRules, facts) ?? allowed;
}

/** Pure: the same facts always give the same verdict, at listing and at call. */
export function decideAccess(facts: AccessFacts): AccessDecision {
  return firstDenial(accessRules, facts) ?? allowed;
}

function firstDenial<Facts>(rules: readonly Rule<Facts>[], facts: Facts): Denial | undefined {
  for (const rule of rules) {
    const denial = rule(facts);
    if (denial !== undefined) return denial;
  }
  return undefined;
}

export function errorOfDenial(
  denial: Denial,
  serverName: string,
  details: Readonly<Record<string, unknown>> = {},
): McpError {
  return createError(denial.code, denial.reason, {
    serverName,
    hint: denial.hint,
    details: { ...details, rule: denial.rule },
  });
}
