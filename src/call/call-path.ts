import { isDeepStrictEqual } from "node:util";

import { claims } from "../catalog/catalog-tool.ts";
import { isToolReference, referenceText, type ToolReference } from "../catalog/tool-origin.ts";
import type { Limits } from "../config/limits.ts";
import type { ServerConnection } from "../connection/server-connection.ts";
import { cancelledByCaller } from "../connection/until-aborted.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { ToolInvoked } from "../events/host-event.ts";
import type { Human } from "../human/human.ts";
import { type Denial, errorOfDenial } from "../policy/decide-access.ts";
import type { ConsentRule } from "../policy/decide-consent.ts";
import type { Clock } from "../ports/clock.ts";
import type { Progress, ProtocolClient, RawToolResult } from "../protocol/protocol-client.ts";
import { resultText } from "../protocol/result-text.ts";
import type { RegisteredServer } from "../registry/server-registry.ts";
import type { QuestionOwner } from "../requests/question-owner.ts";
import { parseFrozen } from "../schema/frozen-json.ts";
import { truncateBytes } from "../text/truncate.ts";
import type { CallableTool, PerformTool, ServerTool } from "./call-contract.ts";
import {
  type CallRecord,
  type CallTopics,
  callTopics,
  progressHandler,
  publishEnd,
  publishStart,
} from "./call-events.ts";
import { CallsUnderWay } from "./calls-under-way.ts";
import { takeArguments } from "./copy-arguments.ts";
import { findMisuse } from "./find-misuse.ts";
import { type Outcome, outcomeError } from "./outcome.ts";
import { schemaError, type ToolSchemas } from "./tool-schemas.ts";

export type ToolArguments = Readonly<Record<string, unknown>>;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Deadline for the answer, without the server's start; `0` means none. */
  readonly timeoutMs?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** The caller's own id for this call, carried through events and outcome. */
  readonly callId?: string | undefined;
}

/** The tool that a call is about, as its caller named it. */
export interface CalledTool {
  readonly reference: ToolReference;
  /** Whoever finds the tool of a reference that is no public name writes its public name here. */
  publicName: string;
}

/** A tool that a call named, with the verdict on it for one agent. */
export interface CallTarget {
  readonly tool: CallableTool;
  /** Undefined for native tools, and for those that were registered without a server. */
  readonly server: RegisteredServer | undefined;
  /** The one that this agent uses; undefined without a server, or for one it cannot see. */
  readonly connection: ServerConnection | undefined;
  /** Why the authorization chain says no, consent aside. */
  readonly denial: Denial | undefined;
  /** Which rule of consent lets the call through; `ask` when a person has to. */
  readonly consent: ConsentRule;
}

/** What the call path asks of the session on whose behalf it works. */
export interface Caller {
  readonly agent: string;
  readonly sessionId: string;
  /** Who answers what a server asks in the middle of a call. */
  readonly human: Human | undefined;
  /** Finds the tool, connecting a server that may own it. Throws `tool_unknown` and the like. */
  resolve(called: CalledTool, signal: AbortSignal | undefined): CallTarget | Promise<CallTarget>;
  /** Sees every call of the session when it is over, whoever else does. */
  readonly onInvoked?: ((event: ToolInvoked) => void) | undefined;
  /**
   * Asks the person; rejects with `consent_denied` unless the answer is yes. `false`: the yes was to
   * something that is no longer there.
   */
  askConsent(target: CallTarget, args: ToolArguments, call: ConsentCall): Promise<boolean>;
}

export interface ConsentCall {
  readonly callId: string;
  /** The JSON of the arguments, letter by letter what is sent. */
  readonly argumentsText: string;
  readonly signal: AbortSignal | undefined;
}

export interface CallPathOptions {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly events: EventBus;
  readonly schemas: ToolSchemas;
  readonly createId: () => string;
  /** The first step where every call has to be written down: what the call waits for, which may refuse it. */
  readonly admit?: (() => Promise<void> | undefined) | undefined;
  /** The last step: writes down what became of the call. Must not throw. */
  readonly record: (call: CallRecord, outcome: Outcome, at: number) => void;
}

/** What the server answered, with its readable form. */
interface Answer {
  readonly result: RawToolResult;
  readonly text: string;
}

const nothing: Answer = { result: { content: [], isError: false }, text: "" };

/**
 * The one path of a call: name → policy → arguments → consent → send → result → record. Everything
 * that calls a tool comes through here, and whatever happens becomes an `Outcome`.
 */
export class CallPath {
  readonly #options: CallPathOptions;
  readonly #topics: CallTopics;
  readonly #underWay: CallsUnderWay;

  constructor(options: CallPathOptions) {
    this.#options = options;
    this.#underWay = new CallsUnderWay(options.clock);
    this.#topics = callTopics(options.events, options.clock);
  }

  call(
    caller: Caller,
    reference: ToolReference,
    args: ToolArguments,
    given: CallOptions = {},
  ): Promise<Outcome> {
    const misuse = findMisuse(reference, given);
    const options = misuse === undefined ? given : {};
    const record: CallRecord = {
      caller,
      callId: options.callId ?? this.#options.createId(),
      reference,
      publicName: isToolReference(reference) ? referenceText(reference) : "",
      startedAt: this.#options.clock.monotonic(),
      args,
      argumentsText: undefined,
      flaw: undefined,
      target: undefined,
      isSent: false,
      isOver: false,
      draft: undefined,
    };
    this.#underWay.begin();
    const fail = (error: unknown) => this.#failure(record, error);
    // Not an async function: a call that need not wait costs one promise here, not five.
    try {
      if (misuse !== undefined) throw misuse;
      throwIfAborted(options.signal);
      takeArguments(record);
      const admission = this.#options.admit?.();
      const target =
        admission === undefined
          ? caller.resolve(record, options.signal)
          : admission.then(() => caller.resolve(record, options.signal));
      const result =
        target instanceof Promise
          ? target.then((found) => this.#proceed(record, found, options))
          : this.#proceed(record, target, options);
      return result.then((answer) => this.#judge(record, answer), fail);
    } catch (error) {
      return Promise.resolve(fail(error));
    }
  }

  /** A call that nothing holds up is checked and sent in one go; any other takes the slow road. */
  #proceed(record: CallRecord, target: CallTarget, options: CallOptions): Promise<RawToolResult> {
    record.target = target;
    throwIfDenied(target);
    if (record.flaw !== undefined) throw schemaError(target.tool, "invalid_arguments", record.flaw);
    const client = target.connection?.openClient;
    const { schemas } = this.#options;
    return client !== undefined &&
      target.consent !== "ask" &&
      target.tool.perform === undefined &&
      schemas.passesAtOnce(target.tool, record.args)
      ? this.#send(record, client, options)
      : this.#proceedSlowly(record, target, options);
  }

  async #proceedSlowly(
    record: CallRecord,
    target: CallTarget,
    options: CallOptions,
  ): Promise<RawToolResult> {
    const { caller } = record;
    const { tool, connection } = target;
    const { signal } = options;
    // Whoever is asked, or runs the tool, holds the same object as everybody else.
    const argumentsText = record.argumentsText as string;
    record.args = parseFrozen(argumentsText) as ToolArguments;
    await this.#options.schemas.checkArguments(tool, record.args);
    const { callId, args } = record;
    const isStillMeant =
      target.consent !== "ask" ||
      (await caller.askConsent(target, args, { callId, argumentsText, signal }));
    throwIfAborted(signal);
    if (tool.serverName === undefined)
      return await this.#perform(tool.perform, record, undefined, options);
    // An approval may have been taken back meanwhile, and the name may stand for something else.
    const now = await caller.resolve(record, signal);
    if (!isStillMeant || isOtherQuestion(target, now))
      return await this.#proceed(record, now, options);
    throwIfDenied(now);
    if (connection === undefined) throw offlineError(tool);
    record.target = now;
    const client = connection.openClient;
    if (client === undefined) return await this.#startAndSend(record, connection, options);
    return await this.#send(record, client, options);
  }

  /** A server that has just been started may offer something else than it did when its list was last seen. */
  async #startAndSend(
    record: CallRecord,
    connection: ServerConnection,
    options: CallOptions,
  ): Promise<RawToolResult> {
    const { caller } = record;
    const { signal } = options;
    const target = record.target as CallTarget;
    // Also why it cannot be started is only told if it is still the server that is meant.
    const [started] = await Promise.allSettled([connection.client({ signal })]);
    throwIfAborted(signal);
    const now = await caller.resolve(record, signal);
    if (isOtherQuestion(target, now)) return await this.#proceed(record, now, options);
    if (started.status === "rejected") throw started.reason;
    record.target = now;
    throwIfDenied(now);
    return await this.#send(record, started.value, options);
  }

  #send(record: CallRecord, client: ProtocolClient, options: CallOptions): Promise<RawToolResult> {
    const { tool, server } = record.target as CallTarget;
    if (tool.perform !== undefined) return this.#perform(tool.perform, record, client, options);
    publishStart(record, tool, this.#topics);
    record.isSent = true;
    return client.callTool(tool.originalName, record.args, {
      argumentsText: record.argumentsText,
      signal: options.signal,
      timeoutMs:
        options.timeoutMs ?? server?.config.callTimeoutMs ?? this.#options.limits.callTimeoutMs,
      onProgress: progressHandler(record, options.onProgress, this.#topics),
      owner: record satisfies QuestionOwner,
    });
  }

  #perform(
    perform: PerformTool,
    record: CallRecord,
    client: ProtocolClient | undefined,
    options: CallOptions,
  ): Promise<RawToolResult> {
    const { tool, server } = record.target as CallTarget;
    const { caller, callId } = record;
    const ownTimeoutMs = tool.serverName === undefined ? tool.timeoutMs : undefined;
    publishStart(record, tool, this.#topics);
    return perform(record.args, {
      caller,
      callId,
      signal: options.signal,
      timeoutMs:
        options.timeoutMs ??
        ownTimeoutMs ??
        server?.config.callTimeoutMs ??
        this.#options.limits.callTimeoutMs,
      onProgress: progressHandler(record, options.onProgress, this.#topics),
      client,
      owner: record satisfies QuestionOwner,
      begin: () => {
        record.isSent = true;
      },
      hold: (draft) => {
        record.draft = draft;
      },
    });
  }

  /** A result is held to the tool's own promise; content that breaks it is kept for the caller. */
  #judge(record: CallRecord, result: RawToolResult): Outcome | Promise<Outcome> {
    const { tool, connection } = record.target as CallTarget;
    connection?.noteAnswer();
    const text = resultText(result.content, result.structuredContent);
    const error = result.isError
      ? createError("tool_error", text === "" ? "MCP error" : text, {
          serverName: tool.serverName,
          details: { toolName: tool.originalName },
        })
      : this.#options.schemas.checkResult(tool, result.structuredContent);
    if (error instanceof Promise)
      return error.then((late) => this.#finish(record, late, { result, text }));
    return this.#finish(record, error, { result, text });
  }

  #failure(record: CallRecord, thrown: unknown): Outcome {
    const error = McpError.is(thrown)
      ? thrown
      : createError("protocol_violation", "the call failed unexpectedly", { cause: thrown });
    if (record.isSent) record.target?.connection?.noteFailure(error);
    return this.#finish(record, error, nothing);
  }

  /** Resolves when no call is under way, or when that takes too long. */
  idle(timeoutMs: number): Promise<void> {
    return this.#underWay.idle(timeoutMs);
  }

  #finish(record: CallRecord, error: McpError | undefined, answer: Answer): Outcome {
    const failure = error ?? record.draft?.commit();
    const success = this.#success(record, answer);
    const outcome = failure === undefined ? success : this.#fail(record, failure, success);
    const at = this.#options.clock.now();
    record.isOver = true;
    publishEnd(record, outcome, at, this.#topics);
    this.#options.record(record, outcome, at);
    this.#underWay.end();
    return outcome;
  }

  // Written out member by member: on the hot path an object spread costs more than the whole protocol.
  #success(record: CallRecord, { result, text }: Answer): Outcome {
    const bounded = truncateBytes(text, this.#options.limits.maxResultBytes);
    return {
      ok: true,
      text: bounded.text,
      content: result.content,
      structured: result.structuredContent,
      meta: result._meta,
      durationMs: this.#options.clock.monotonic() - record.startedAt,
      callId: record.callId,
      toolName: record.target?.tool.originalName,
      publicName: record.publicName,
      serverName: record.target?.tool.serverName,
      truncated: bounded.cut,
      sideEffects: sideEffects(record),
    };
  }

  #fail(record: CallRecord, error: McpError, outcome: Outcome): Outcome {
    const serverName = outcome.serverName ?? error.serverName;
    const rolledBack = record.draft?.hasChanges === true ? { rolledBack: true as const } : {};
    record.draft?.drop();
    return { ...outcome, ...rolledBack, serverName, ok: false, error: this.#boundedError(error) };
  }

  #boundedError(error: McpError) {
    const described = outcomeError(error);
    const { text, cut } = truncateBytes(described.message, this.#options.limits.maxResultBytes);
    return cut ? { ...described, message: text } : described;
  }
}

/** Whether what was checked and allowed, before something was waited for, is no longer what would be done. */
function isOtherQuestion(before: CallTarget, now: CallTarget): boolean {
  return (
    !isDeepStrictEqual(now.tool, before.tool) ||
    now.connection !== before.connection ||
    // The right that nobody had to be asked for is gone.
    (now.consent === "ask" && before.consent !== "ask")
  );
}

function sideEffects({ isSent, target }: CallRecord): Outcome["sideEffects"] {
  const isHarmless = !isSent || (target !== undefined && claims(target.tool, "readOnlyHint"));
  return isHarmless ? "none" : "possible";
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw cancelledByCaller();
}

function throwIfDenied({ denial, tool }: CallTarget): void {
  if (denial !== undefined) throw errorOfDenial(denial, tool.serverName);
}

function offlineError(tool: ServerTool): McpError {
  return createError(
    "not_connected",
    `${tool.serverName} is not connected: its tools were registered from schemas only`,
    { serverName: tool.serverName, hint: "configure the server to call its tools" },
  );
}
