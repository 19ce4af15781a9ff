// `plugboard/permissions`: why a call may happen, and who agreed to it. Named exports only.

export type { ApproveOptions } from "../approval/approvals.ts";
export type { RequestApprovalOptions } from "../approval/launch-approval.ts";
export type { Capability, GrantTerms } from "../policy/capability-set.ts";
export type { DefinitionChange, DefinitionDifference } from "../pins/compare-definitions.ts";
export type { AccessRule, AccessStep } from "../policy/decide-access.ts";
export type { ConsentRule } from "../policy/decide-consent.ts";
export { canUseMcp, requiresMcpConfirmation } from "../policy/permission-level.ts";
export type { Permissions } from "../policy/permission-level.ts";
export type { AccessReport } from "../session/tools/explain-access.ts";
export type { AllowOptions, GrantInfo, GrantQuery, Grants } from "../grants/grants.ts";
export type { Pins, QuarantinedTool } from "../pins/pins.ts";
