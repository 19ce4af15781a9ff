import type { SessionContent } from "../session/content/session-content.ts";
import type { Session } from "../session/session.ts";
import type { AccessReport } from "../session/tools/explain-access.ts";
import type { McpHost, SessionOptions } from "./host.ts";

/** Resources and prompts, without what goes on for longer than one request. */
export type SharedContent = Omit<SessionContent, "watchResource">;

/**
 * The part of a session that whoever looks and calls needs. An object that speaks to a session in another process can
 * implement it.
 */
export type SharedSession = Pick<
  Session,
  "agent" | "call" | "find" | "on" | "ready" | "servers" | "tools"
> & {
  readonly content: SharedContent;
  /** As `Session.why`; another process has to be waited for. */
  why(...tool: Parameters<Session["why"]>): AccessReport | Promise<AccessReport>;
};

/**
 * The part of a host that several surfaces can use at the same time: looking, connecting, asking and calling. What is
 * configured and kept is changed on a whole `McpHost` only. An object that speaks to a host in another process can
 * implement it.
 */
export type SharedHost = Pick<
  McpHost,
  | "approvalQuestion"
  | "approve"
  | "close"
  | "configProblems"
  | "connect"
  | "disconnect"
  | "emitTypes"
  | "on"
  | "reconnect"
  | "reload"
  | "requestApproval"
  | "server"
  | "servers"
  | "serversAsLastSeen"
> & {
  session(options?: SessionOptions): SharedSession;
};
