import { anything, checkArguments, text, withMethods } from "../errors/check-arguments.ts";
import { serverResource } from "./resource-name.ts";

/** How far a person trusts an agent. No level at all means no access to any server. */
export const permissionLevels = ["yolo", "trusted", "sandboxed"] as const;
export type PermissionLevel = (typeof permissionLevels)[number];

/** What the seeds call permissions: an object with a level, or the level itself, or nothing. */
export type Permissions = PermissionLevel | { readonly level?: PermissionLevel | undefined };

/** Whether an agent may use MCP servers at all. Nobody's agent may not. */
export function canUseMcp(permissions: Permissions | null | undefined): boolean {
  const level = levelOf(permissions);
  return level === "yolo" || level === "trusted";
}

const shapes = {
  permissions: anything,
  serverName: text,
  allowances: withMethods("a set", "has"),
} as const;

/**
 * Whether a person must be asked before this agent uses this server. Without permissions it is true,
 * although `canUseMcp` is false then: a caller that forgets the first question still meets the second.
 */
export function requiresMcpConfirmation(
  permissions: Permissions | null | undefined,
  serverName: string,
  allowances: ReadonlySet<string> = new Set(),
): boolean {
  checkArguments("requiresMcpConfirmation", shapes, [permissions, serverName, allowances]);
  return levelOf(permissions) !== "yolo" && !allowances.has(serverResource(serverName));
}

function levelOf(permissions: Permissions | null | undefined): PermissionLevel | undefined {
  return typeof permissions === "object" && permissions !== null
    ? permissions.level
    : (permissions ?? undefined);
}
