import { isDeepStrictEqual } from "node:util";

import { cancelledByCaller } from "../async/until-aborted.ts";
import { claims } from "../catalog/catalog-tool.ts";
import {
  isToolReference,
  referenceText,
  type ToolReference,
  toolReference,
} from "../catalog/tool-origin.ts";
import type { Limits } from "../config/keys/limits.ts";
import type { ServerConnection } from "../connection/server-connection.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { EventBus } from "../events/event-bus.ts";
import { errorOfDenial } from "../policy/decide-access.ts";
import type { Clock } from "../ports/clock.ts";
import { resultText } from "../protocol/client/result-text.ts";
import type { ProtocolClient, RawToolResult } from "../protocol/protocol-client.ts";
import { endRequest } from "../protocol/wire/request-owner.ts";
import { parseFrozen } from "../schema/validate/plain-json.ts";
import { truncateBytes } from "../text/truncate.ts";
import type {
  Caller,
  CallOptions,
  CallTarget,
  PerformTool,
  ServerTool,
  ToolArguments,
} from "./call-contract.ts";
import {
  type CallRecord,
  type CallTopics,
  callTopics,
  progressHandler,
  publishEnd,
  publishStart,
} from "./call-events.ts";
import { CallsUnderWay } from "./calls-under-way.ts";
import { copyArguments } from "./copy-arguments.ts";
import { type Outcome, outcomeError } from "./outcome.ts";
import { schemaError, type ToolSchemas } from "./tool-schemas.ts";

export interface CallPathOptions {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly events: EventBus;
  readonly schemas: ToolSchemas;
  readonly createId: () => string;
  /**
   * The first step of a call where every call has to be recorded: the call waits for the promise, whose
   * rejection refuses it.
   */
  readonly admit?: (() => Promise<void> | undefined) | undefined;
  /** The last step of a call: records its outcome. Must not throw. Undefined where nothing is kept. */
  readonly record: ((call: CallRecord, outcome: Outcome, at: number) => void) | undefined;
}

/** A result of a server, with its readable form. */
interface Answer {
  readonly result: RawToolResult;
  readonly text: string;
}

const noAnswer: Answer = { result: { content: [], isError: false }, text: "" };

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
      argumentsProblem: undefined,
      target: undefined,
      isSent: false,
      end: undefined,
      draft: undefined,
    };
    this.#underWay.begin();
    const fail = (error: unknown) => this.#failure(record, error);
    // Not an async function: a call that need not wait costs one promise here, not five.
    try {
      if (misuse !== undefined) throw misuse;
      throwIfAborted(options.signal);
      copyArguments(record);
      const admission = this.#options.admit?.();
      const target =
        admission === undefined
          ? caller.resolve(record, options.signal)
          : admission.then(() => caller.resolve(record, options.signal));
      const result =
        target instanceof Promise
          ? target.then((found) => this.#proceed(record, found, options))
          : this.#proceed(record, target, options);
      return result.then((answer) => this.#checkResult(record, answer), fail);
    } catch (error) {
      return Promise.resolve(fail(error));
    }
  }

  /** A call that nothing holds up is checked and sent in one go; any other takes the slow road. */
  #proceed(record: CallRecord, target: CallTarget, options: CallOptions): Promise<RawToolResult> {
    record.target = target;
    throwIfDenied(target);
    const { argumentsProblem } = record;
    if (argumentsProblem !== undefined)
      throw schemaError(target.tool, "invalid_arguments", argumentsProblem);
    const client = target.connection?.openClient;
    const { schemas } = this.#options;
    return client !== undefined &&
      target.consent !== "ask" &&
      target.tool.perform === undefined &&
      schemas.validateNow(target.tool, record.args)
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
    // Frozen: the person who is asked and the tool that runs share this one object.
    const argumentsText = record.argumentsText as string;
    record.args = parseFrozen(argumentsText) as ToolArguments;
    await this.#options.schemas.checkArguments(tool, record.args);
    const { callId, args } = record;
    const isStillThere =
      target.consent !== "ask" ||
      (await caller.askConsent(target, args, { callId, argumentsText, signal }));
    throwIfAborted(signal);
    if (tool.serverName === undefined)
      return await this.#perform(tool.perform, record, undefined, options);
    // Meanwhile an approval may have been revoked, and the name may stand for another tool.
    const now = await caller.resolve(record, signal);
    if (!isStillThere || hasTargetChanged(target, now))
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
    // Why it cannot be started is reported only if the name still stands for this server's tool.
    const [started] = await Promise.allSettled([connection.client({ signal })]);
    throwIfAborted(signal);
    const now = await caller.resolve(record, signal);
    if (hasTargetChanged(target, now)) return await this.#proceed(record, now, options);
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
      owner: record,
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
      owner: record,
      begin: () => {
        record.isSent = true;
      },
      hold: (draft) => {
        record.draft = draft;
      },
    });
  }

  /** Validates a result against the tool's output schema; content that breaks it is kept for the caller. */
  #checkResult(record: CallRecord, result: RawToolResult): Outcome | Promise<Outcome> {
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
    return this.#finish(record, error, noAnswer);
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
    publishEnd(record, outcome, at, this.#topics);
    endRequest(record);
    this.#options.record?.(record, outcome, at);
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

/** Whether a call that waited would now do something else than what was checked and allowed before. */
function hasTargetChanged(before: CallTarget, now: CallTarget): boolean {
  return (
    !isDeepStrictEqual(now.tool, before.tool) ||
    now.connection !== before.connection ||
    // The grant is gone that made asking a person unnecessary.
    (now.consent === "ask" && before.consent !== "ask")
  );
}

/** What a program without types got wrong about a call besides its arguments. */
function findMisuse(name: unknown, options: unknown): McpError | undefined {
  if (typeof name !== "string" && !isToolReference(name))
    return misuseError("name", toolReference.words);
  if (typeof options !== "object" || options === null) return misuseError("options", "an object");
  const { signal, timeoutMs, onProgress, callId } = options as CallOptions;
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.aborted !== "boolean")
    return misuseError("options.signal", "an AbortSignal");
  if (timeoutMs !== undefined && (typeof timeoutMs !== "number" || Number.isNaN(timeoutMs)))
    return misuseError("options.timeoutMs", "a number");
  if (onProgress !== undefined && typeof onProgress !== "function")
    return misuseError("options.onProgress", "a function");
  return callId === undefined || typeof callId === "string"
    ? undefined
    : misuseError("options.callId", "a string");
}

function misuseError(parameter: string, words: string): McpError {
  return createError("invalid_arguments", `"${parameter}" of a call must be ${words}`, {
    details: { parameter },
  });
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
