/** How far a person trusts an agent. No level at all means no access to any server. */
export const permissionLevels = ["yolo", "trusted", "sandboxed"] as const;
export type PermissionLevel = (typeof permissionLevels)[number];
