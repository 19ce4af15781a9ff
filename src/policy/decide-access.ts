import type { ErrorCode } from "../errors/error-codes.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import { ownCommand } from "../text/own-command.ts";
import { boundedLine } from "../text/untrusted/bounded-text.ts";
import { type PermissionLevel, canUseMcp } from "./permission-level.ts";
import { toolResource } from "./resource-name.ts";

/** What decides whether a server may be started or contacted at all. */
export interface LaunchAccessFacts {
  readonly serverName: string;
  readonly isEnabled: boolean;
  readonly isLaunchApproved: boolean;
}

/** What decides whether an agent may use a server, whatever its tools are. */
export interface ServerAccessFacts extends LaunchAccessFacts {
  /** The server is shared, or the agent's own. */
  readonly isVisible: boolean;
  readonly level: PermissionLevel | undefined;
  /** The agent was given a set of capabilities, which then decides in place of a missing level. */
  readonly hasCapabilities: boolean;
  /** The agent's set allows something of the server; looked at only when there is a set. */
  readonly reachesServer: boolean;
}

/** What decides whether an agent may use one thing of a server: a tool, its resources, its prompts. */
export interface RightFacts extends ServerAccessFacts {
  /** The tool's own name, or what stands in its place for resources and prompts. */
  readonly toolName: string;
  /** The agent's set allows `mcp:{server}:{tool}`; looked at only when there is a set. */
  readonly isCapable: boolean;
}

/** Everything the chain looks at: facts only, so that a verdict can be explained and tested as a table. */
export interface ToolFacts extends RightFacts {
  /** The entry's lists of allowed and blocked tools let it through. */
  readonly isOffered: boolean;
  readonly pin: PinVerdict;
}

/**
 * `accepted`: as it was when it was first seen, or last accepted by a person. `changed`: it is not.
 * `suspect`: seen for the first time, with a definition that reads like an attack.
 */
export type PinVerdict = "accepted" | "changed" | "suspect";

export const accessRules = [
  "enabled",
  "approval",
  "filter",
  "visibility",
  "level",
  "capability",
  "pin",
] as const;
export type AccessRule = (typeof accessRules)[number];

export interface Denial {
  readonly rule: AccessRule;
  readonly code: ErrorCode;
  readonly reason: string;
  readonly hint?: string;
}

/** Says why not, or nothing. */
type Rule<Facts> = (facts: Facts) => Omit<Denial, "rule"> | undefined;
type Chain<Facts> = readonly (readonly [AccessRule, Rule<Facts>])[];

const grantHint = "grant it in the CapabilitySet before the session is made";

const launchChain: Chain<LaunchAccessFacts> = [
  [
    "enabled",
    ({ isEnabled, serverName }) =>
      isEnabled
        ? undefined
        : {
            code: "server_disabled",
            reason: `server "${serverName}" is disabled`,
            hint: 'set "enabled": true in its entry',
          },
  ],
  [
    "approval",
    ({ isLaunchApproved, serverName }) =>
      isLaunchApproved
        ? undefined
        : {
            code: "not_approved",
            reason: `server "${serverName}" comes from a project file and has not been approved`,
            hint: `read its entry, then: ${ownCommand("approve", serverName)}`,
          },
  ],
];

const filterChain: Chain<ToolFacts> = [
  [
    "filter",
    ({ isOffered, toolName, serverName }) =>
      isOffered
        ? undefined
        : {
            code: "tool_unknown",
            reason: `no tool "${shown(toolName)}": the entry of "${serverName}" leaves it out`,
            hint: "see enabledTools and disabledTools of the entry",
          },
  ],
];

const agentChain: Chain<ServerAccessFacts> = [
  [
    "visibility",
    ({ isVisible, serverName }) =>
      isVisible ? undefined : { code: "server_unknown", reason: `no server "${serverName}"` },
  ],
  [
    "level",
    ({ level, hasCapabilities }) =>
      canUseMcp(level) || (level === undefined && hasCapabilities)
        ? undefined
        : {
            code: "denied",
            reason:
              level === undefined
                ? "the agent has no permission level, so it may not use MCP servers"
                : "agents of level sandboxed may not use MCP servers",
            hint: 'give the session a level: "trusted" asks, "yolo" does not',
          },
  ],
];

/** The same question as that of `rightChain`, as far as it can be asked before anything of the server is known. */
const reachChain: Chain<ServerAccessFacts> = [
  [
    "capability",
    ({ hasCapabilities, reachesServer, serverName }) =>
      !hasCapabilities || reachesServer
        ? undefined
        : {
            code: "denied",
            reason: `the agent was granted nothing of server "${serverName}"`,
            hint: grantHint,
          },
  ],
];

const rightChain: Chain<RightFacts> = [
  [
    "capability",
    ({ hasCapabilities, isCapable, serverName, toolName }) =>
      !hasCapabilities || isCapable
        ? undefined
        : {
            code: "denied",
            reason: `the agent was not granted ${shown(toolResource(serverName, toolName))}`,
            hint: grantHint,
          },
  ],
];

const pinChain: Chain<ToolFacts> = [
  [
    "pin",
    ({ pin, serverName, toolName }) =>
      pin === "accepted"
        ? undefined
        : {
            code: "definition_changed",
            reason:
              pin === "changed"
                ? `the definition of ${shown(toolName)} is not the one that was accepted`
                : `the definition of ${shown(toolName)} reads like an attack and nobody has accepted it`,
            hint: `see what it is now: ${ownCommand("approve", serverName)}`,
          },
  ],
];

const serverChain: Chain<ServerAccessFacts> = [...launchChain, ...agentChain, ...reachChain];
const contentChain: Chain<RightFacts> = [...launchChain, ...agentChain, ...rightChain];

/** In the order of the design: the first rule that objects decides. */
const wholeChain: Chain<ToolFacts> = [
  ...launchChain,
  ...filterChain,
  ...agentChain,
  ...rightChain,
  ...pinChain,
];

/** Before anything is started: nothing that only looks gets past this for a pending server. */
export function denyLaunch(facts: LaunchAccessFacts): Denial | undefined {
  return firstDenial(launchChain, facts);
}

/** Whether the agent may use the server at all: asked before its tools are known. */
export function denyServer(facts: ServerAccessFacts): Denial | undefined {
  return firstDenial(serverChain, facts);
}

/** Whether it may use what the server offers beside tools: nothing there is filtered or pinned. */
export function denyContent(facts: RightFacts): Denial | undefined {
  return firstDenial(contentChain, facts);
}

/** The first rule that denies a tool. Pure: listing and calling get the same verdict from the same facts. */
export function denyTool(facts: ToolFacts): Denial | undefined {
  return firstDenial(wholeChain, facts);
}

/** One rule of the chain and what it says, for a person who wants to know why. */
export interface AccessStep {
  readonly rule: AccessRule;
  readonly passes: boolean;
  /** The code of the error a call would end with; `code`, `reason` and `hint` are absent where the rule passes. */
  readonly code?: ErrorCode;
  readonly reason?: string;
  readonly hint?: string;
}

/** Applies every rule, also those after the first that denies: all of them have to pass. */
export function explainTool(facts: ToolFacts): readonly AccessStep[] {
  return wholeChain.map(([rule, denialOf]) => {
    const denial = denialOf(facts);
    if (denial === undefined) return { rule, passes: true };
    return { rule, passes: false, ...denial };
  });
}

/** A server chooses the names of its tools. */
function shown(name: string): string {
  return boundedLine(name, 128);
}

function firstDenial<Facts>(chain: Chain<Facts>, facts: Facts): Denial | undefined {
  for (const [rule, denialOf] of chain) {
    const denial = denialOf(facts);
    if (denial !== undefined) return { rule, ...denial };
  }
  return undefined;
}

export function errorOfDenial(
  { code, reason, hint, rule }: Denial,
  serverName: string | undefined,
  details: Readonly<Record<string, unknown>> = {},
): McpError {
  return createError(code, reason, { serverName, hint, details: { ...details, rule } });
}
