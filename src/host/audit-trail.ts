import { startPause } from "../async/stop.ts";
import type { CallTarget } from "../call/call-contract.ts";
import type { CallRecord } from "../call/call-events.ts";
import type { Outcome } from "../call/outcome.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import { recordedEvents } from "../events/audit-types.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { HostEventOf } from "../events/host-event.ts";
import type { Clock } from "../ports/clock.ts";
import { keepAliveUntil } from "../ports/keep-alive.ts";
import type { Logger } from "../ports/logger.ts";
import type { ContentUse } from "../session/content/session-content.ts";
import type {
  Audit,
  AuditEntry,
  AuditFilter,
  AuditFollow,
  AuditQuery,
  AuditRow,
} from "../store/audit/audit-entry.ts";
import { hashOf, maxCallIdChars, shortDuration } from "../store/audit/audit-page-draft.ts";
import type { CallHead } from "../store/audit/audit-page.ts";
import { AuditQueue } from "../store/audit/audit-queue.ts";
import type { HostStore } from "../store/host-store.ts";
import type { Store } from "../store/store.ts";
import { redact } from "../text/secrets/redact.ts";
import { truncate } from "../text/truncate.ts";
import { escapeInvisible } from "../text/untrusted/escape-invisible.ts";

export interface AuditTrailOptions {
  readonly store: HostStore;
  readonly events: EventBus;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether calls are refused while they cannot be recorded. */
  readonly isRequired: boolean;
}

const maxNameChars = 128;
const followIntervalMs = 500;
/**
 * How much of a longer name is searched for secrets: one that begins in the part that is kept must be seen as
 * a whole.
 */
const maxReadChars = 1_024;

type RecordedEvent = HostEventOf<(typeof recordedEvents)[number]>;

/** Records every call and every decision, behind the call: no call waits for the store. */
export class AuditTrail implements Audit {
  readonly #store: HostStore;
  readonly #clock: Clock;
  readonly #queue: AuditQueue;
  /**
   * Admits a call where the trail is required: gives undefined when the call can be recorded, otherwise a promise
   * that rejects with `store_failed` as long as it cannot.
   */
  readonly admit: (() => Promise<void> | undefined) | undefined;
  /** Records a call, as its last step, whatever became of it; undefined where nothing is kept. */
  readonly record: ((call: CallRecord, outcome: Outcome, at: number) => void) | undefined;
  /** Records one use of a resource, a prompt or a completion; undefined where nothing is kept. */
  readonly recordContent: ((use: ContentUse) => void) | undefined;
  /** The fields that all calls of one agent with one tool share, as long as the verdict on the tool holds. */
  readonly #heads = new WeakMap<CallTarget, CallHead>();

  constructor({ store, events, clock, logger, isRequired }: AuditTrailOptions) {
    this.#store = store;
    this.#clock = clock;
    this.admit = isRequired ? () => this.#admit() : undefined;
    this.#queue = new AuditQueue({
      clock,
      logger,
      save: async (page) => {
        const opened = await store.open();
        await opened?.audit.save(page);
      },
      isTold: (error) => error === store.failure,
    });
    if (!store.isPersistent) return;
    this.record = (call, outcome, at) => this.#record(call, outcome, at);
    this.recordContent = (use) => this.#queue.add(entryOfContent(use));
    for (const type of recordedEvents)
      events.on(type, (event) => this.#queue.add(entryOfEvent(event)));
  }

  async query(query: AuditQuery = {}): Promise<readonly AuditRow[]> {
    const store = await this.#openUpToDate();
    return (await store?.audit.query(query)) ?? [];
  }

  async *export(filter: AuditFilter = {}): AsyncGenerator<string, void, undefined> {
    const store = await keepAliveUntil(this.#openUpToDate());
    if (store === undefined) return;
    // People read this at terminals as well; an escape in JSON stands for the same text.
    for await (const row of store.audit.export(filter))
      yield `${escapeInvisible(JSON.stringify(row))}\n`;
  }

  async *follow({ signal, ...filter }: AuditFollow = {}): AsyncGenerator<
    AuditRow,
    void,
    undefined
  > {
    const stopping = signal ?? new AbortController().signal;
    let after = filter.after;
    while (!stopping.aborted) {
      const store = await keepAliveUntil(this.#openUpToDate());
      if (store === undefined) return;
      const end = await keepAliveUntil(store.audit.end());
      // Without a row to begin at, all that is there now is past.
      after ??= end;
      if (end > after)
        for await (const row of store.audit.export({ ...filter, after })) {
          yield row;
          if (stopping.aborted) return;
          after = row.seq;
        }
      // Rows that do not fit the filter are not looked at again.
      after = Math.max(after, end);
      await keepAliveUntil(startPause(this.#clock, followIntervalMs, stopping).over);
    }
  }

  /** Saves the entries that wait. To be called before the store closes. */
  async close(): Promise<void> {
    await this.#queue.close();
  }

  /**
   * Opens the store when all entries are in it. Undefined where nothing is kept; throws `closed` once the host
   * has ended.
   */
  async #openUpToDate(): Promise<Store | undefined> {
    const store = await this.#store.open();
    await this.#queue.flush();
    return store;
  }

  #admit(): Promise<void> | undefined {
    const isWritable = this.#store.isOpen && this.#queue.failure === undefined;
    return isWritable ? undefined : this.#becomeWritable();
  }

  async #becomeWritable(): Promise<void> {
    const store = await this.#openUpToDate().catch((error: unknown) => {
      throw refusedForAudit(error);
    });
    if (store === undefined) throw refusedForAudit(this.#store.failure);
    if (this.#queue.failure !== undefined) throw refusedForAudit(this.#queue.failure.reason);
  }

  #record(call: CallRecord, outcome: Outcome, at: number): void {
    const { target, callId } = call;
    const argumentsText = call.argumentsText ?? jsonOf(call.args);
    if (!outcome.ok || target === undefined || callId.length > maxCallIdChars)
      return this.#queue.add(entryOfCall(call, outcome, { at, argumentsText }));
    const { durationMs, sideEffects } = outcome;
    const head = this.#heads.get(target) ?? this.#keepHead(call, target);
    const hasEffects = sideEffects === "possible";
    this.#queue.addCall({ at, head, callId, durationMs, hasEffects, argumentsText });
  }

  #keepHead({ caller }: CallRecord, target: CallTarget): CallHead {
    const { tool, consent } = target;
    const { agent } = caller;
    const head = {
      agent,
      server: tool.serverName,
      tool: escapeInvisible(tool.originalName),
      consent,
    };
    this.#heads.set(target, head);
    return head;
  }
}

function refusedForAudit(cause: unknown): McpError {
  const reason = McpError.is(cause) ? cause : undefined;
  if (reason?.code === "closed") return reason;
  return createError(
    "store_failed",
    `refused, because it could not be written down${reason === undefined ? "" : `: ${reason.message}`}`,
    {
      hint: reason?.hint,
      retryable: reason?.retryable,
      details: { ...reason?.details, rule: "audit" },
      cause,
    },
  );
}

function entryOfCall(
  { caller, target, publicName, callId }: CallRecord,
  outcome: Outcome,
  { at, argumentsText }: { readonly at: number; readonly argumentsText: string },
): AuditEntry {
  return {
    type: "call",
    at,
    agent: caller.agent,
    server: target?.tool.serverName ?? outcome.serverName,
    // People read this at terminals: characters that cannot be seen are written as escapes.
    tool: target && escapeInvisible(target.tool.originalName),
    code: outcome.ok ? "ok" : outcome.error.code,
    detail: {
      // The rule that refused the call; `consent` is the one that let it pass without a question.
      rule: outcome.ok ? undefined : outcome.error.details["rule"],
      consent: target?.consent,
      callId,
      durationMs: shortDuration(outcome.durationMs),
      argumentsHash: hashOf(argumentsText),
      sideEffects: outcome.sideEffects,
      // The name that was called, where it names no tool.
      publicName: target === undefined ? escapeInvisible(nameOfNoTool(publicName)) : undefined,
    },
  };
}

function entryOfContent(use: ContentUse): AuditEntry {
  const { at, agent, serverName, action, error, consent, callId, durationMs } = use;
  const failure = McpError.is(error) ? error : undefined;
  return {
    type: "content",
    at,
    agent,
    server: nameOfNoTool(serverName),
    tool: action,
    code: error === undefined ? "ok" : (failure?.code ?? "protocol_violation"),
    detail: {
      rule: failure?.details["rule"],
      consent,
      callId,
      durationMs: shortDuration(durationMs),
      argumentsHash: hashOf(use.argumentsText),
    },
  };
}

/** Bounds and redacts a name that a model made up: it may hold a secret in the wrong place. */
function nameOfNoTool(name: string): string {
  return truncate(redact(name.slice(0, maxReadChars)), maxNameChars);
}

/** The arguments as JSON; empty for those that cannot be written, which were refused and never sent. */
function jsonOf(args: unknown): string {
  try {
    // A function, say, has no JSON at all.
    return JSON.stringify(args) ?? "";
  } catch {
    return "";
  }
}

function entryOfEvent(event: RecordedEvent): AuditEntry {
  const { type, at } = event;
  switch (event.type) {
    case "consent-asked":
    case "consent-granted":
    case "consent-denied": {
      const { agent, serverName, toolName, callId, answer } = event;
      const server = serverName ?? undefined;
      const tool = escapeInvisible(toolName);
      return { type, at, agent, server, tool, code: answer, detail: { callId } };
    }
    case "consent-mode-set":
    case "consent-ended": {
      const code = event.type === "consent-mode-set" ? event.mode : undefined;
      return { type, at, agent: event.agent ?? undefined, server: event.serverName, code };
    }
    case "grant-added":
    case "grant-revoked": {
      const { agent, serverName } = event;
      const server = serverName ?? undefined;
      const toolNames = event.toolNames.map((name) => escapeInvisible(name));
      return { type, at, agent: agent ?? undefined, server, detail: { toolNames } };
    }
    case "launch-asked":
    case "launch-approved":
    case "launch-denied":
    case "launch-revoked":
      return { type, at, server: event.serverName, detail: { launchId: event.launchId } };
    case "signed-in":
    case "signed-out":
      return { type, at, server: event.serverName, detail: { issuer: event.issuer } };
    case "tool-quarantined":
    case "tool-accepted": {
      const { serverName: server, toolName, reason: code } = event;
      return { type, at, server, tool: escapeInvisible(toolName), code };
    }
    case "request-answered": {
      const { serverName: server, outcome: code, kind, durationMs } = event;
      return { type, at, server, code, detail: { kind, durationMs } };
    }
  }
}
