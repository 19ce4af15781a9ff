import { CapabilitySet } from "../../policy/capability-set.ts";
import type { PermissionLevel } from "../../policy/permission-level.ts";
import type { AgentRights } from "./tool-judge.ts";

export interface ChildRights {
  readonly agent?: string | undefined;
  readonly level?: PermissionLevel | undefined;
  /** Only what one of these patterns covers, such as `mcp:github:*`. */
  readonly attenuate?: readonly string[] | undefined;
}

/** From least to most; a session that was given capabilities in place of a level stands between. */
const order: readonly (PermissionLevel | undefined)[] = ["sandboxed", undefined, "trusted", "yolo"];

/** The capabilities of a parent that was given no set. */
const everything = new CapabilitySet([{ resource: "mcp:*:*", action: "*" }]).freeze();

/** Gives a child the rights it wishes for, and never more than its parent has. */
export function childRights(parent: AgentRights, wish: ChildRights): AgentRights {
  const { agent = parent.agent, level = parent.level, attenuate } = wish;
  const place = Math.min(order.indexOf(level), order.indexOf(parent.level));
  return {
    agent,
    level: order[place],
    capabilities:
      attenuate === undefined
        ? parent.capabilities
        : (parent.capabilities ?? everything).attenuate(attenuate),
  };
}
