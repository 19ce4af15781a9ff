import { setImmediate as nextTurn } from "node:timers/promises";

import { joinSignals } from "../../async/stop.ts";
import type { Caller, CallOptions, PerformCall, ToolArguments } from "../../call/call-contract.ts";
import type { CallPath } from "../../call/call-path.ts";
import type { Outcome } from "../../call/outcome.ts";
import type { ToolReference } from "../../catalog/tool-origin.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Progress } from "../../protocol/protocol-client.ts";
import type { ServerRegistry } from "../../registry/server-registry.ts";
import type { SessionContent } from "../content/session-content.ts";
import type { McpTool } from "../mcp-tool.ts";
import type { ToolJudge } from "../rights/tool-judge.ts";
import { type DraftBase, StateDraft } from "../state/state-draft.ts";
import type { StateView } from "../state/state-view.ts";
import { McpConnectionPool } from "./connection-pool.ts";
import { DraftCaller, refusingCaller } from "./nested-callers.ts";

/** Objects that a handler may ask for by their class. */
export interface ContextResources {
  /** Undefined when there is no such thing here. */
  get<T>(key: abstract new (...args: never[]) => T): T | undefined;
}

/** The call that a native tool is to answer, as its handler sees it. */
export interface ToolContext {
  readonly agent: string;
  readonly sessionId: string;
  readonly callId: string;
  /** Aborted when the call is over before the handler is: its result is no longer wanted then. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch; undefined when the call may take for ever. */
  readonly deadline: number | undefined;
  /** What is written holds when the call succeeds, and is forgotten when it fails. */
  readonly state: StateView;
  readonly resources: ContextResources;
  /**
   * Calls another tool of the session, within this call: its state, its deadline, its end. Once this call
   * has ended the outcome is `closed`; calls are refused that would lie more than 16 deep in each other.
   */
  call(tool: ToolReference, args?: ToolArguments, options?: CallOptions): Promise<Outcome>;
  progress(progress: Progress): void;
}

export interface ToolContextParts {
  /** The session that owns the tool. */
  readonly caller: Caller;
  readonly calls: CallPath;
  readonly clock: Clock;
  readonly state: DraftBase;
  readonly registry: ServerRegistry;
  readonly judge: ToolJudge;
  readonly content: SessionContent;
  /** Tools of all servers, as the agent may use them. */
  readonly tools: () => readonly McpTool[];
}

/** A tool that calls whatever a model names can be made to call itself: somewhere that has to end. */
const maxDepth = 16;

/** The context of one call. Its draft exists once the handler looks at the state. */
export class CallContext implements ToolContext {
  readonly signal: AbortSignal;
  readonly deadline: number | undefined;
  readonly resources: ContextResources;
  readonly #parts: ToolContextParts;
  readonly #call: PerformCall;
  #draft: StateDraft | undefined;
  #pool: McpConnectionPool | undefined;
  #isOver = false;

  constructor(parts: ToolContextParts, call: PerformCall, signal: AbortSignal) {
    this.#parts = parts;
    this.#call = call;
    this.signal = signal;
    this.deadline = call.timeoutMs > 0 ? parts.clock.now() + call.timeoutMs : undefined;
    this.resources = {
      get: <T>(key: abstract new (...args: never[]) => T): T | undefined =>
        (key as unknown) === McpConnectionPool ? (this.#connections() as T) : undefined,
    };
  }

  get agent(): string {
    return this.#parts.caller.agent;
  }

  get sessionId(): string {
    return this.#parts.caller.sessionId;
  }

  get callId(): string {
    return this.#call.callId;
  }

  get state(): StateView {
    return this.#openDraft();
  }

  /** Whether the call is part of another one, or of a transaction. */
  get isNested(): boolean {
    return this.#call.caller instanceof DraftCaller;
  }

  async call(
    tool: ToolReference,
    args: ToolArguments = {},
    options: CallOptions = {},
  ): Promise<Outcome> {
    const outcome = await this.#callWithin(tool, args, options);
    // A handler that tries until it succeeds must not outrun its own deadline.
    if (!outcome.ok) await nextTurn();
    return outcome;
  }

  /** The handler has ended or was given up: nothing it still does is part of the call. */
  end(): void {
    this.#isOver = true;
  }

  progress(progress: Progress): void {
    if (!this.signal.aborted) this.#call.onProgress?.(progress);
  }

  #callWithin(tool: ToolReference, args: ToolArguments, options: CallOptions): Promise<Outcome> {
    const { calls, caller } = this.#parts;
    const refusal = this.#refusal();
    if (refusal !== undefined)
      return calls.call(refusingCaller(caller, refusal), tool, args, { callId: options.callId });
    return calls.call(new DraftCaller(caller, this.#openDraft()), tool, args, {
      ...options,
      signal: joinSignals(this.signal, options.signal),
      timeoutMs: this.#within(options.timeoutMs),
    });
  }

  #refusal(): McpError | undefined {
    if (this.#isOver)
      return createError("closed", "the call that this one was to be part of is over");
    if (this.#openDraft().depth < maxDepth) return undefined;
    return createError("tool_error", `tools that call tools may do so ${maxDepth} deep at most`, {
      details: { maxDepth },
      hint: "does a tool call itself?",
    });
  }

  /** No call that is part of this one may take longer than what is left of it. */
  #within(timeoutMs: number | undefined): number | undefined {
    if (this.deadline === undefined) return timeoutMs;
    const left = Math.max(1, this.deadline - this.#parts.clock.now());
    return timeoutMs === undefined || timeoutMs === 0 ? left : Math.min(timeoutMs, left);
  }

  #openDraft(): StateDraft {
    if (this.#draft === undefined) {
      const { caller } = this.#call;
      this.#draft = new StateDraft(
        caller instanceof DraftCaller ? caller.draft : this.#parts.state,
      );
      this.#call.hold(this.#draft);
    }
    return this.#draft;
  }

  #connections(): McpConnectionPool {
    const { registry, judge, content, tools } = this.#parts;
    this.#pool ??= new McpConnectionPool({
      registry,
      judge,
      content,
      tools,
      signal: this.signal,
      call: (tool, args, options) => this.call(tool, args, options),
    });
    return this.#pool;
  }
}
