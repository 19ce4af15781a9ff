import type { ServerConfig } from "../config/server-config.ts";
import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { Unsubscribe } from "../events/event-bus.ts";
import type { RequestAnsweredEvent, RequestKind } from "../events/host-event.ts";
import type { InputContext, InputHandler, InputHandlers } from "../protocol/input-handlers.ts";
import type { JsonObject } from "../protocol/json-object.ts";
import type { ServerNotification } from "../protocol/protocol-client.ts";
import { totalTimeOf } from "../protocol/request-deadline.ts";
import type { DeskParts } from "./desk-parts.ts";
import { OpenedPages } from "./opened-pages.ts";
import { QuestionBudget } from "./question-budget.ts";
import type { Asking, QuestionOwner } from "./question.ts";
import { answerRoots, type Roots } from "./roots.ts";
import { SamplingAllowances } from "./sampling-allowances.ts";
import { answerSampling, type SamplingHandler } from "./sampling.ts";

/** What a timer of the platform can be set to. */
const longestTimerMs = 2 ** 31 - 1;

/** What the desk offers when a connection opens; a connection keeps it for its life. */
export interface DeskOffer {
  /** Undefined when nobody could fill in a form. */
  readonly elicitation: JsonObject | undefined;
  readonly sampling: SamplingHandler | undefined;
  /** Asked for its value at each question. */
  readonly roots: (() => Roots) | undefined;
}

/** Who asks: a server, over the connection of one agent or over everybody's. */
interface AskingServer {
  readonly config: ServerConfig;
  readonly owner: string | null;
}

/** Answers one server for as long as its definition stays the same. */
export class ServerDesk {
  readonly #config: ServerConfig;
  /** The agent whose own connection it is; null for everybody's. */
  readonly #owner: string | null;
  readonly #parts: DeskParts;
  readonly #offer: () => DeskOffer;
  readonly #budget: QuestionBudget;
  readonly #allowances = new SamplingAllowances();
  readonly #pages: OpenedPages;

  constructor({ config, owner }: AskingServer, parts: DeskParts, offer: () => DeskOffer) {
    this.#config = config;
    this.#owner = owner;
    this.#parts = parts;
    this.#offer = offer;
    this.#budget = new QuestionBudget(config.name, parts.clock);
    this.#pages = new OpenedPages(config.name, parts.logger);
  }

  /** For a connection that is about to open: what can be answered now is what it declares. */
  handlers(): InputHandlers {
    const { elicitation, sampling, roots } = this.#offer();
    return {
      "elicitation/create": elicitation && this.#elicitation(elicitation),
      "sampling/createMessage": sampling && this.#sampling(sampling),
      "roots/list": roots && this.#roots(roots),
    };
  }

  /** Anything the server reports: it may be about what somebody was asked. */
  heard(notification: ServerNotification): void {
    this.#pages.heard(notification);
  }

  #elicitation(offered: JsonObject): InputHandler {
    const { limits, logger, hostEnv } = this.#parts;
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
        this.#attend("elicitation", context, (asking) =>
          this.#budgeted(asking, async () => {
            // Few servers ever ask: what judges forms and addresses is loaded for the first that does.
            const { answerElicitation } = await import("./elicitation.ts");
            return await answerElicitation(params, asking, options);
          }),
        ),
    };
  }

  #sampling(handler: SamplingHandler): InputHandler {
    const options = { handler, allowances: this.#allowances };
    return {
      capability: {},
      answer: (params, context) =>
        this.#attend("sampling", context, (asking) =>
          this.#budgeted(asking, () => answerSampling(params, asking, options)),
        ),
    };
  }

  #roots(roots: () => Roots): InputHandler {
    const { cwd } = this.#parts;
    return {
      capability: { listChanged: true },
      answer: (_params, context) =>
        this.#attend("roots", context, (asking) => answerRoots(roots(), asking, cwd)),
    };
  }

  /** People and models are not to be bothered without end. */
  async #budgeted<T>({ owner }: Asking, answer: () => Promise<T>): Promise<T> {
    const { end } = this.#budget.begin(owner);
    try {
      return await answer();
    } finally {
      end();
    }
  }

  /** What all questions have in common: who answers, how long that may take, and that it is seen. */
  async #attend(
    kind: RequestKind,
    context: InputContext,
    answer: (asking: Asking) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const { human, clock, limits } = this.#parts;
    // Whoever names an owner on a connection of the host names one of these.
    const owner = context.owner as QuestionOwner | undefined;
    const end = new AbortController();
    const timer = clock.schedule(Math.min(totalTimeOf({}, limits), longestTimerMs), () =>
      end.abort(this.#tooLate()),
    );
    const unsubscribe = this.#onCallEnd(owner, () => end.abort(this.#pointless()));
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
      // The protocol has a word for a form that nobody answered, and for nothing else.
      if (kind === "elicitation" && end.signal.aborted && !context.signal.aborted)
        return { action: "cancel" };
      throw error;
    } finally {
      timer.cancel();
      unsubscribe?.();
    }
  }

  /** A person must not go on answering for a call that is over: in the legacy era only we know that it is. */
  #onCallEnd(owner: QuestionOwner | undefined, handler: () => void): Unsubscribe | undefined {
    const { callId, caller, over } = owner ?? {};
    if (over !== undefined) {
      over.addEventListener("abort", handler);
      return () => over.removeEventListener("abort", handler);
    }
    if (callId === undefined) return undefined;
    return this.#parts.events.on("call-end", (event) => {
      const isOfCall = event.callId === callId && event.sessionId === caller?.sessionId;
      if (isOfCall && owner?.isOver !== false) handler();
    });
  }

  #publishAsked(
    kind: RequestKind,
    owner: QuestionOwner | undefined,
  ): (outcome: RequestAnsweredEvent["outcome"]) => void {
    const { clock, events, createId } = this.#parts;
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

  #pointless(): McpError {
    const { name: serverName } = this.#config;
    return createError("cancelled", "the call that the server asked about is over", { serverName });
  }

  #tooLate(): McpError {
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
