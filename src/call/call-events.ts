import type { EventBus, EventTopic } from "../events/event-bus.ts";
import type {
  CallEndEvent,
  CallProgressEvent,
  CallStartEvent,
  ToolInvoked,
} from "../events/host-event.ts";
import type { Clock } from "../ports/clock.ts";
import type { Progress } from "../protocol/protocol-client.ts";
import type { RequestOwner } from "../protocol/wire/request-owner.ts";
import type { ValidationFailure } from "../schema/compile/validation-failure.ts";
import type {
  CallableTool,
  CallDraft,
  CalledTool,
  Caller,
  CallTarget,
  ToolArguments,
} from "./call-contract.ts";
import type { Outcome } from "./outcome.ts";
import { toToolResult } from "./projections.ts";

/** A call while it runs: enough to describe it however it ends. */
export interface CallRecord extends CalledTool, RequestOwner {
  readonly caller: Caller;
  readonly callId: string;
  readonly startedAt: number;
  /** The caller's own object until it is copied, and where it cannot be written as JSON. */
  args: ToolArguments;
  /** The JSON of `args`, letter by letter what a server gets; undefined when they have none. */
  argumentsText: string | undefined;
  /** Why the arguments cannot be sent to anyone. */
  argumentsProblem: ValidationFailure | undefined;
  target: CallTarget | undefined;
  isSent: boolean;
  /** Changes that are made if the call succeeds. */
  draft: CallDraft | undefined;
}

/** The topics that events of calls are published to. */
export interface CallTopics {
  readonly started: EventTopic<CallStartEvent>;
  readonly ended: EventTopic<CallEndEvent>;
  readonly invoked: EventTopic<ToolInvoked>;
  readonly progressed: EventTopic<CallProgressEvent>;
  readonly clock: Clock;
}

export function callTopics(events: EventBus, clock: Clock): CallTopics {
  return {
    started: events.topic("call-start"),
    ended: events.topic("call-end"),
    invoked: events.topic("tool-invoked"),
    progressed: events.topic("call-progress"),
    clock,
  };
}

// Every call comes through here: events are plain literals, built only when somebody listens.

export function publishStart(
  record: CallRecord,
  tool: CallableTool,
  { started, clock }: CallTopics,
): void {
  if (!started.isHeard) return;
  started.emit({
    type: "call-start",
    sessionId: record.caller.sessionId,
    callId: record.callId,
    agent: record.caller.agent,
    serverName: tool.serverName ?? null,
    toolName: tool.originalName,
    publicName: record.publicName,
    at: clock.now(),
  });
}

export function publishEnd(
  record: CallRecord,
  outcome: Outcome,
  at: number,
  { ended, invoked }: CallTopics,
): void {
  const tool = record.target?.tool;
  const { onInvoked } = record.caller;
  if (ended.isHeard)
    ended.emit({
      type: "call-end",
      sessionId: record.caller.sessionId,
      callId: record.callId,
      agent: record.caller.agent,
      serverName: outcome.serverName ?? null,
      toolName: outcome.toolName ?? null,
      publicName: record.publicName,
      ok: outcome.ok,
      code: outcome.ok ? null : outcome.error.code,
      durationMs: outcome.durationMs,
      at,
    });
  if (!invoked.isHeard && onInvoked === undefined) return;
  const event: ToolInvoked = {
    type: "tool-invoked",
    sessionId: record.caller.sessionId,
    toolName: outcome.toolName ?? null,
    publicName: record.publicName,
    params: record.args,
    result: toToolResult(outcome),
    source: tool !== undefined && tool.serverName === undefined ? "native" : "mcp",
    mcpServer: outcome.serverName ?? null,
    callId: record.callId,
    durationMs: outcome.durationMs,
    at,
  };
  onInvoked?.(event);
  invoked.emit(event);
}

/** Publishes the server's progress reports; undefined when nobody wants them, so that none are requested. */
export function progressHandler(
  record: CallRecord,
  onProgress: ((progress: Progress) => void) | undefined,
  { progressed, clock }: CallTopics,
): ((progress: Progress) => void) | undefined {
  // A listener to whatever happens is no reason to make every server report.
  if (onProgress === undefined && !progressed.isWanted) return undefined;
  return (progress) => {
    progressed.emit({
      type: "call-progress",
      sessionId: record.caller.sessionId,
      callId: record.callId,
      serverName: record.target?.tool.serverName ?? null,
      ...progress,
      at: clock.now(),
    });
    try {
      onProgress?.(progress);
    } catch {
      // A callback that only watches a call cannot make it fail.
    }
  };
}
