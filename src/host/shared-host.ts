import type { Session } from "../session/session.ts";
import type { McpHost, SessionOptions } from "./host.ts";

/**
 * The part of a session that whoever looks and calls needs. An object that speaks to a session in another process can
 * implement it.
 */
export type SharedSession = Pick<
  Session,
  "agent" | "call" | "content" | "find" | "on" | "ready" | "servers" | "tools" | "why"
>;

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
  | "keptLogs"
  | "logs"
  | "on"
  | "reconnect"
  | "reload"
  | "requestApproval"
  | "server"
  | "servers"
> & {
  session(options?: SessionOptions): SharedSession;
};
