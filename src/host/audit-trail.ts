import { keepAliveUntil } from "../async/keep-alive.ts";
import type { CallTarget } from "../call/call-contract.ts";
import type { CallRecord } from "../call/call-events.ts";
import type { Outcome } from "../call/outcome.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { HostEventOf, HostEventType } from "../events/host-event.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { ContentUse } from "../session/content/session-content.ts";
import type {
  Audit,
  AuditEntry,
  AuditFilter,
  AuditQuery,
  AuditRow,
} from "../store/audit/audit-entry.ts";
import { hashOf, maxCallIdChars } from "../store/audit/audit-page-draft.ts";
import { type CallHead, shortDuration } from "../store/audit/audit-page.ts";
import { AuditQueue } from "../store/audit/audit-queue.ts";
import type { HostStore } from "../store/host-store.ts";
import type { Store } from "../store/store.ts";
import { escapeInvisible } from "../text/escape-invisible.ts";
import { redact } from "../text/redact.ts";
import { truncate } from "../text/truncate.ts";

export interface AuditTrailParts {
  readonly store: HostStore;
  readonly events: EventBus;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Calls that could not be written down are refused. */
  readonly isRequired: boolean;
}

/** Decisions; calls come in by `record`, with what their events do not tell. */
const recordedEvents = [
  "consent-granted",
  "consent-denied",
  "consent-mode-set",
  "consent-ended",
  "grant-added",
  "grant-revoked",
  "launch-approved",
  "launch-denied",
  "launch-revoked",
  "tool-quarantined",
  "tool-accepted",
  "request-answered",
] as const satisfies readonly HostEventType[];

const maxNameChars = 128;
/** Of a longer name; enough that a secret which begins in what is kept is seen as a whole. */
const maxReadChars = 1_024;

type RecordedEvent = HostEventOf<(typeof recordedEvents)[number]>;

/** Writes down every call and every decision, behind the call and never in front of it. */
export class AuditTrail implements Audit {
  readonly #store: HostStore;
  readonly #queue: AuditQueue;
  /**
   * What a call has to pass before it begins, where the trail is required: undefined when it can be written down,
   * otherwise a promise that rejects with `store_failed` as long as it cannot.
   */
  readonly admit: (() => Promise<void> | undefined) | undefined;
  /** For all calls of one agent with one tool, as long as the verdict on it holds. */
  readonly #heads = new WeakMap<CallTarget, CallHead>();

  constructor({ store, events, clock, logger, isRequired }: AuditTrailParts) {
    this.#store = store;
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
    for (const type of recordedEvents)
      events.on(type, (event) => this.#queue.add(entryOfEvent(event)));
  }

  /** The last step of every call, whatever became of it. */
  readonly record = (call: CallRecord, outcome: Outcome, at: number): void => {
    if (!this.#store.isPersistent) return;
    const { target, callId } = call;
    const argumentsText = call.argumentsText ?? jsonOf(call.args);
    if (!outcome.ok || target === undefined || callId.length > maxCallIdChars)
      return this.#queue.add(entryOfCall(call, outcome, { at, argumentsText }));
    const { durationMs, sideEffects } = outcome;
    const head = this.#heads.get(target) ?? this.#keepHead(call, target);
    const hasEffects = sideEffects === "possible";
    this.#queue.addCall({ at, head, callId, durationMs, hasEffects, argumentsText });
  };

  /** The same for what a server offers beside tools. */
  readonly recordContent = (use: ContentUse): void => {
    if (this.#store.isPersistent) this.#queue.add(entryOfContent(use));
  };

  async query(query: AuditQuery = {}): Promise<readonly AuditRow[]> {
    const store = await this.#openUpToDate();
    return (await store?.audit.query(query)) ?? [];
  }

  async *export(filter: AuditFilter = {}): AsyncGenerator<string, void, undefined> {
    const store = await keepAliveUntil(this.#openUpToDate());
    if (store === undefined) return;
    // Read by people at terminals as well; an escape in JSON stands for the very same text.
    for await (const row of store.audit.export(filter))
      yield `${escapeInvisible(JSON.stringify(row))}\n`;
  }

  /** Saves what is left; before the store closes. */
  async close(): Promise<void> {
    await this.#queue.close();
  }

  /** Undefined where nothing is kept; throws `closed` at the end, when "nothing" would be no answer. */
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
    // Read by people at terminals: what could not be seen is written as an escape.
    tool: target && escapeInvisible(target.tool.originalName),
    code: outcome.ok ? "ok" : outcome.error.code,
    detail: {
      // Which rule refused it, or else which one let it pass without a question.
      rule: outcome.ok ? undefined : outcome.error.details["rule"],
      consent: target?.consent,
      callId,
      durationMs: shortDuration(outcome.durationMs),
      argumentsHash: hashOf(argumentsText),
      sideEffects: outcome.sideEffects,
      // What was called, where no tool was found.
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

/** Whatever a model made up may be here, be it a secret in the wrong place. */
function nameOfNoTool(name: string): string {
  return truncate(redact(name.slice(0, maxReadChars)), maxNameChars);
}

/** What cannot be written as JSON was refused and never sent. */
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
