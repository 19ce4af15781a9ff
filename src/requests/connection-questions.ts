import { Stop } from "../async/stop.ts";
import type { Limits } from "../config/keys/limits.ts";
import type { ServerConfig } from "../config/keys/server-config.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { RequestAnsweredEvent, RequestKind } from "../events/host-event.ts";
import type { Human } from "../human/human.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import { totalTimeOf } from "../protocol/channel/deadlines.ts";
import { TokenBucket } from "../protocol/channel/token-bucket.ts";
import type { ServerNotification } from "../protocol/protocol-client.ts";
import type { InputContext, InputHandler, InputHandlers } from "../protocol/wire/input-handlers.ts";
import { type RequestOwner, endSignal } from "../protocol/wire/request-owner.ts";
import type { JsonObject } from "../text/json-object.ts";
import { OpenedPages } from "./opened-pages.ts";
import type { Asking } from "./question.ts";
import { type Roots, answerRoots } from "./roots.ts";
import type { SamplingAllowances, SamplingHandler } from "./sampling.ts";

export interface QuestionsOptions {
  /** Answers questions that belong to no session. */
  readonly human: Human | undefined;
  readonly sampling: SamplingHandler | undefined;
  readonly roots: Roots | undefined;
  /** The folder that relative roots start from. */
  readonly cwd: string;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly events: EventBus;
  readonly logger: Logger;
  readonly createId: () => string;
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
}

/** What a connection offers to answer when it opens; it keeps the offer for its life. */
export interface QuestionsOffer {
  /** Undefined when nobody could fill in a form. */
  readonly elicitation: JsonObject | undefined;
  readonly sampling: SamplingHandler | undefined;
  /** Called at each question: the roots may have changed. */
  readonly roots: (() => Roots) | undefined;
}

/** A server that asks, over the connection of one agent or over everybody's. */
interface AskingServer {
  readonly config: ServerConfig;
  /** The agent whose own connection it is; null for everybody's. */
  readonly owner: string | null;
}

/**
 * Answers the questions that one server asks over one connection: finds who is to answer, limits how
 * often and how long a person or a model is asked, and publishes the events.
 */
export class ConnectionQuestions {
  readonly #config: ServerConfig;
  readonly #owner: string | null;
  readonly #options: QuestionsOptions;
  readonly #offer: () => QuestionsOffer;
  readonly #budget: QuestionBudget;
  #allowances: SamplingAllowances | undefined;
  readonly #pages: OpenedPages;

  constructor(
    { config, owner }: AskingServer,
    options: QuestionsOptions,
    offer: () => QuestionsOffer,
  ) {
    this.#config = config;
    this.#owner = owner;
    this.#options = options;
    this.#offer = offer;
    this.#budget = new QuestionBudget(config.name, options.clock);
    this.#pages = new OpenedPages(config.name, options.logger);
  }

  /** Handlers for a connection that is about to open: it declares what can be answered now. */
  handlers(): InputHandlers {
    const { elicitation, sampling, roots } = this.#offer();
    return {
      "elicitation/create": elicitation && this.#elicitation(elicitation),
      "sampling/createMessage": sampling && this.#sampling(sampling),
      "roots/list": roots && this.#roots(roots),
    };
  }

  /** Takes every notification of the server: one may report on a page that a person was sent to. */
  heard(notification: ServerNotification): void {
    this.#pages.heard(notification);
  }

  #elicitation(offered: JsonObject): InputHandler {
    const { limits, logger, hostEnv } = this.#options;
    const options = {
      offered,
      limits,
      logger,
      hostEnv,
      config: this.#config,
      pages: this.#pages,
    };
    return {
      capability: offered,
      answer: (params, context) =>
        this.#answer("elicitation", context, (asking) =>
          this.#budgeted(asking, async () => {
            // Few servers ever ask: the code for forms and addresses is loaded by the first that does.
            const { answerElicitation } = await import("./elicitation.ts");
            return await answerElicitation(params, asking, options);
          }),
        ),
    };
  }

  #sampling(handler: SamplingHandler): InputHandler {
    return {
      capability: {},
      answer: (params, context) =>
        this.#answer("sampling", context, (asking) =>
          this.#budgeted(asking, async () => {
            // Loaded by the first server that asks, as the code for forms is.
            const { answerSampling, SamplingAllowances } = await import("./sampling.ts");
            const allowances = (this.#allowances ??= new SamplingAllowances());
            return await answerSampling(params, asking, { handler, allowances });
          }),
        ),
    };
  }

  #roots(roots: () => Roots): InputHandler {
    const { cwd } = this.#options;
    return {
      capability: { listChanged: true },
      answer: (_params, context) =>
        this.#answer("roots", context, (asking) => answerRoots(roots(), asking, cwd)),
    };
  }

  /** Answers within the limits on how often a server may ask. */
  async #budgeted<T>({ owner }: Asking, answer: () => Promise<T>): Promise<T> {
    const { end } = this.#budget.begin(owner);
    try {
      return await answer();
    } finally {
      end();
    }
  }

  /** Finds who answers a question, limits the time for it and publishes how it went. */
  async #answer(
    kind: RequestKind,
    context: InputContext,
    answer: (asking: Asking) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const { human, clock, limits } = this.#options;
    const { owner } = context;
    const end = new Stop({
      signals: [owner && endSignal(owner)],
      cancelled: () => this.#overError(),
      clock,
      afterMs: totalTimeOf({}, limits),
      tooLate: () => this.#timeoutError(),
    });
    const signal = AbortSignal.any([context.signal, end.signal]);
    const answered = this.#publishAsked(kind, owner);
    try {
      const result = await answer({
        serverName: this.#config.name,
        owner,
        human: owner === undefined ? human : owner.caller.human,
        signal,
      });
      answered(outcomeOf(result));
      return result;
    } catch (error) {
      answered(signal.aborted ? "cancelled" : outcomeOfFailure(error));
      // Only elicitation has an answer in the protocol for a question that nobody answered.
      if (kind === "elicitation" && end.signal.aborted && !context.signal.aborted)
        return { action: "cancel" };
      throw error;
    } finally {
      end.clear();
    }
  }

  #publishAsked(
    kind: RequestKind,
    owner: RequestOwner | undefined,
  ): (outcome: RequestAnsweredEvent["outcome"]) => void {
    const { clock, events, createId } = this.#options;
    const startedAt = clock.monotonic();
    const question = {
      serverName: this.#config.name,
      owner: this.#owner,
      kind,
      requestId: createId(),
      ...(owner !== undefined && { sessionId: owner.caller.sessionId }),
      ...(owner?.callId !== undefined && { callId: owner.callId }),
    };
    events.emit({ type: "request-asked", ...question, at: clock.now() });
    return (outcome) => {
      const durationMs = clock.monotonic() - startedAt;
      events.emit({ type: "request-answered", ...question, outcome, durationMs, at: clock.now() });
    };
  }

  #overError(): McpError {
    const { name: serverName } = this.#config;
    return createError("cancelled", "the call that the server asked about is over", { serverName });
  }

  #timeoutError(): McpError {
    const { name: serverName } = this.#config;
    return createError("timeout", "nobody answered what the server asked in time", { serverName });
  }
}

function outcomeOf({ action }: JsonObject): RequestAnsweredEvent["outcome"] {
  if (action === "decline") return "declined";
  return action === "cancel" ? "cancelled" : "answered";
}

function outcomeOfFailure(error: unknown): RequestAnsweredEvent["outcome"] {
  if (McpError.is(error, "protocol_violation")) return "refused";
  return McpError.is(error, "consent_denied") || McpError.is(error, "denied")
    ? "declined"
    : "failed";
}

/** As many as one unfinished result of the modern era may ask at once. */
const maxOpen = 32;
/** A server of the legacy era asks one by one, so that the limit on rounds does not hold it. */
const maxPerCall = 64;
/** Questions that belong to no call, at once and then one a minute: there is no call to cancel. */
const maxUnowned = 16;
const unownedPerSecond = 1 / 60;

/** Limits how often one server may ask a person, or a model, over one connection. */
export class QuestionBudget {
  readonly #serverName: string;
  readonly #unowned: TokenBucket;
  readonly #perCall = new WeakMap<object, number>();
  #open = 0;

  constructor(serverName: string, clock: Clock) {
    this.#serverName = serverName;
    this.#unowned = new TokenBucket({ perSecond: unownedPerSecond, burst: maxUnowned, clock });
  }

  /** Throws `denied` when the server has had its share; else `end` is to be called once. */
  begin(owner: object | undefined): { readonly end: () => void } {
    if (this.#open >= maxOpen) throw this.#refusal(`more than ${maxOpen} questions at once`);
    if (owner === undefined && !this.#unowned.take())
      throw this.#refusal("too many questions that belong to no call");
    if (owner !== undefined) {
      const asked = this.#perCall.get(owner) ?? 0;
      if (asked >= maxPerCall) throw this.#refusal(`more than ${maxPerCall} questions in one call`);
      this.#perCall.set(owner, asked + 1);
    }
    this.#open += 1;
    return {
      end: () => {
        this.#open -= 1;
      },
    };
  }

  #refusal(what: string): McpError {
    return createError("denied", `the server asks ${what}`, { serverName: this.#serverName });
  }
}
