import type { McpHost } from "../../host/host.ts";
import type { SharedHost, SharedSession } from "../../host/shared-host.ts";
import type { PermissionLevel } from "../../policy/permission-level.ts";

/**
 * What outlives the single command where several are typed one after the other: hosts that stay open, and the agent on
 * whose behalf they are typed. A command in a process of its own has none; it opens a host and closes it again.
 */
export interface Workplace {
  readonly agent: string;
  readonly level: PermissionLevel;
  /** The host for commands that look and call. */
  sharedHost(): Promise<SharedHost>;
  /** The host for commands that read or change what is kept. */
  wholeHost(): Promise<McpHost>;
  /** The agent's session at this host, which keeps what a person allowed; somebody is asked about its calls. */
  session(host: SharedHost): SharedSession;
}
