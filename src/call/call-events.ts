import type { EventBus } from "../events/event-bus.ts";
import type { ToolInvoked } from "../events/host-event.ts";
import type { Clock } from "../ports/clock.ts";
import type { Progress } from "../protocol/protocol-client.ts";
import type { Caller, CallTarget, ToolArguments } from "./call-path.ts";
import type { CallableTool, CallDraft } from "./callable-tool.ts";
import type { Outcome } from "./outcome.ts";
import { toToolResult } from "./projections.ts";

/** What is known of a call while it runs: enough to describe it however it ends. */
export interface CallRecord {
  readonly caller: Caller;
  readonly callId: string;
  readonly name: string;
  readonly startedAt: number;
  args: ToolArguments;
  target: CallTarget | undefined;
  isSent: boolean;
  /** What the call will have changed if it succeeds. */
  draft: CallDraft | undefined;
}

interface Publisher {
  readonly events: EventBus;
  readonly clock: Clock;
}

// Events are plain literals, built only when someone looks: they are made for every call.

export function publishStart(record: CallRecord, tool: CallableTool, to: Publisher): void {
  if (!to.events.has("call-start")) return;
  to.events.emit({
    type: "call-start",
    sessionId: record.caller.sessionId,
    callId: record.callId,
    agent: record.caller.agent,
    serverName: tool.serverName ?? null,
    toolName: tool.originalName,
    publicName: record.name,
    at: to.clock.now(),
  });
}

export function publishEnd(
  record: CallRecord,
  outcome: Outcome,
  at: number,
  events: EventBus,
): void {
  const tool = record.target?.tool;
  const { onInvoked } = record.caller;
  if (events.has("call-end"))
    events.emit({
      type: "call-end",
      sessionId: record.caller.sessionId,
      callId: record.callId,
      agent: record.caller.agent,
      serverName: tool?.serverName ?? null,
      toolName: tool?.originalName ?? null,
      publicName: record.name,
      ok: outcome.ok,
      code: outcome.ok ? null : outcome.error.code,
      durationMs: outcome.durationMs,
      at,
    });
  const isWanted = events.has("tool-invoked");
  if (!isWanted && onInvoked === undefined) return;
  const invoked: ToolInvoked = {
    type: "tool-invoked",
    sessionId: record.caller.sessionId,
    toolName: record.name,
    params: record.args,
    result: toToolResult(outcome),
    source: tool !== undefined && tool.serverName === undefined ? "native" : "mcp",
    mcpServer: tool?.serverName ?? null,
    callId: record.callId,
    durationMs: outcome.durationMs,
    at,
  };
  onInvoked?.(invoked);
  if (isWanted) events.emit(invoked);
}

/** Takes the server's reports, or undefined: then the server is not even asked for any. */
export function progressHandler(
  record: CallRecord,
  onProgress: ((progress: Progress) => void) | undefined,
  { events, clock }: Publisher,
): ((progress: Progress) => void) | undefined {
  // A listener to whatever happens is no reason to make every server report.
  if (onProgress === undefined && !events.isWanted("call-progress")) return undefined;
  return (progress) => {
    events.emit({
      type: "call-progress",
      sessionId: record.caller.sessionId,
      callId: record.callId,
      serverName: record.target?.tool.serverName ?? null,
      ...progress,
      at: clock.now(),
    });
    onProgress?.(progress);
  };
}
