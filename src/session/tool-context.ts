import type { CallOptions, CallPath, Caller, ToolArguments } from "../call/call-path.ts";
import type { PerformCall } from "../call/callable-tool.ts";
import type { Outcome } from "../call/outcome.ts";
import type { Clock } from "../ports/clock.ts";
import type { Progress } from "../protocol/protocol-client.ts";
import { type ConnectionPoolParts, McpConnectionPool } from "./connection-pool.ts";
import { DraftCaller } from "./draft-caller.ts";
import { joinSignals } from "./join-signals.ts";
import { type DraftBase, StateDraft } from "./state-draft.ts";
import type { StateView } from "./state-view.ts";

/** What a handler may ask for by its class. */
export interface ContextResources {
  /** Undefined when there is no such thing here. */
  get<T>(key: abstract new (...args: never[]) => T): T | undefined;
}

/** What a native tool knows about the call it is to answer. */
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
  /** Calls another tool of the session, within this call: its state, its deadline, its end. */
  call(name: string, args?: ToolArguments, options?: CallOptions): Promise<Outcome>;
  progress(progress: Progress): void;
}

export interface ToolContextParts {
  /** The session that owns the tool. */
  readonly caller: Caller;
  readonly calls: CallPath;
  readonly clock: Clock;
  readonly state: DraftBase;
  readonly pool: Omit<ConnectionPoolParts, "call" | "signal">;
}

/** The context of one call. Its draft exists once the handler looks at the state. */
export class CallContext implements ToolContext {
  readonly signal: AbortSignal;
  readonly deadline: number | undefined;
  readonly resources: ContextResources;
  readonly #parts: ToolContextParts;
  readonly #call: PerformCall;
  #draft: StateDraft | undefined;
  #pool: McpConnectionPool | undefined;

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

  call(name: string, args: ToolArguments = {}, options: CallOptions = {}): Promise<Outcome> {
    const caller = new DraftCaller(this.#parts.caller, this.#openDraft());
    return this.#parts.calls.call(caller, name, args, {
      ...options,
      signal: joinSignals(this.signal, options.signal),
      timeoutMs: this.#within(options.timeoutMs),
    });
  }

  progress(progress: Progress): void {
    if (!this.signal.aborted) this.#call.onProgress?.(progress);
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
    this.#pool ??= new McpConnectionPool({
      ...this.#parts.pool,
      signal: this.signal,
      call: (name, args, options) => this.call(name, args, options),
    });
    return this.#pool;
  }
}
