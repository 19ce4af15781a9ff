import { startPause, Stop } from "../../async/stop.ts";
import { untilAborted } from "../../async/until-aborted.ts";
import type { Limits } from "../../config/keys/limits.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { Clock } from "../../ports/clock.ts";
import type { JsonObject } from "../../text/json-object.ts";
import { cancelledFailure, timeoutFailure } from "../channel/channel-failures.ts";
import { totalTimeOf } from "../channel/deadlines.ts";
import type { OutgoingRequest, SentRequest } from "../channel/pending-requests.ts";
import type { InputHandlers } from "../wire/input-handlers.ts";
import { type InputQuestion, isInputRequired, readInputRequired } from "./input-required.ts";
import { retryAfterVisit } from "./url-required.ts";

/** A server that only wants the request again, with nobody to ask in between, gets it no faster. */
const pacingMs = 250;

export interface InputRoundsOptions {
  readonly serverName: string;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly handlers: InputHandlers;
  /** Sends one more leg of a request and resolves to the result as it came. */
  readonly send: (request: OutgoingRequest) => Promise<JsonObject>;
}

/**
 * Finishes requests of the modern era whose result is a question: the handlers answer, and the
 * request is repeated with the answers, until the server has what it needs or had its rounds. In the
 * legacy era the one answer that is a question is an error.
 */
export class InputRounds {
  readonly #options: InputRoundsOptions;
  readonly #running = new Set<Stop>();

  constructor(options: InputRoundsOptions) {
    this.#options = options;
  }

  /** Resolves to the first result that is no question; rejects with an `McpError`. */
  async finish(first: JsonObject, request: SentRequest): Promise<JsonObject> {
    const stop = this.#begin(request);
    const { signal } = stop;
    try {
      return await this.#run(first, request, signal);
    } catch (error) {
      const reason: unknown = signal.aborted ? signal.reason : error;
      const failure = McpError.is(reason) ? reason : this.#noAnswer(request.method, reason);
      // One failed answer makes the others pointless.
      stop.abort(failure);
      throw failure;
    } finally {
      this.#finish(stop);
    }
  }

  /**
   * Asks a person to visit the pages that an error of the legacy era names, one after the other, until
   * a no. Resolves to what the request fails with; it is not repeated here.
   */
  async visit(
    refusal: McpError,
    pages: readonly JsonObject[],
    request: SentRequest,
  ): Promise<McpError> {
    const stop = this.#begin(request);
    const { signal } = stop;
    try {
      const isAgreed = await untilAborted(this.#askToVisit(pages, request, signal), signal);
      return isAgreed ? retryAfterVisit(refusal) : refusal;
    } catch {
      // A malformed question, or one too many, leaves the error as the server sent it.
      return McpError.is(signal.reason) ? signal.reason : refusal;
    } finally {
      this.#finish(stop);
    }
  }

  /** The connection is over: nobody has to answer any more. */
  end(error: McpError): void {
    for (const stop of this.#running) stop.abort(error);
  }

  async #run(first: JsonObject, request: SentRequest, signal: AbortSignal): Promise<JsonObject> {
    const { limits, handlers, serverName, send } = this.#options;
    const { method } = request;
    const params = paramsAsSent(request);
    let result = first;
    for (let round = 1; isInputRequired(result); round += 1) {
      if (round > limits.maxInputRounds) throw this.#tooManyRounds(method);
      const required = readInputRequired(result, handlers, { serverName, method });
      const { questions, requestState } = required;
      const leg: Record<string, unknown> = { ...params };
      if (requestState !== undefined) leg["requestState"] = requestState;
      if (questions.length === 0) await this.#pause(signal);
      else
        leg["inputResponses"] = await untilAborted(this.#ask(questions, request, signal), signal);
      result = await send({ method, params: leg, options: { ...request.options, signal } });
    }
    return result;
  }

  async #ask(
    questions: readonly InputQuestion[],
    { options }: SentRequest,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const answers = questions.map(async ({ key, handler, params }) => {
      const answer = await handler.answer(params, { signal, owner: options.owner });
      return [key, answer] as const;
    });
    return Object.fromEntries(await Promise.all(answers));
  }

  async #askToVisit(
    pages: readonly JsonObject[],
    { options: { owner } }: SentRequest,
    signal: AbortSignal,
  ): Promise<boolean> {
    const handler = this.#options.handlers["elicitation/create"];
    for (const page of pages) {
      const answer = await handler?.answer(page, { signal, owner });
      if (answer?.["action"] !== "accept") return false;
    }
    return true;
  }

  async #pause(signal: AbortSignal): Promise<void> {
    await startPause(this.#options.clock, pacingMs, signal).over;
    signal.throwIfAborted();
  }

  /** Stops the rounds with the caller's signal, with the end of the time for the whole request, and with `end`. */
  #begin(request: SentRequest): Stop {
    const { clock, limits, serverName } = this.#options;
    const { method, options, sentAt } = request;
    const totalMs = totalTimeOf(options, limits);
    const stop = new Stop({
      signals: [options.signal],
      cancelled: () => cancelledFailure(method, serverName),
      clock,
      afterMs: Math.max(0, sentAt + totalMs - clock.monotonic()),
      tooLate: () => timeoutFailure({ limitMs: totalMs, isTotal: true }, { serverName, method }),
    });
    this.#running.add(stop);
    return stop;
  }

  #finish(stop: Stop): void {
    stop.clear();
    this.#running.delete(stop);
  }

  /** A handler threw something of its own. */
  #noAnswer(method: string, cause: unknown): McpError {
    const { serverName } = this.#options;
    const message = `the input the server asked for to finish ${method} could not be given`;
    return createError("cancelled", message, { serverName, details: { method }, cause });
  }

  #tooManyRounds(method: string): McpError {
    const { limits, serverName } = this.#options;
    const rounds = limits.maxInputRounds;
    return createError(
      "protocol_violation",
      `the server still asks for input after ${rounds} rounds of ${method}`,
      { serverName, details: { method, rounds } },
    );
  }
}

/** The params as they were sent: the caller's own object may have changed since. */
function paramsAsSent({ params, paramsText }: SentRequest): JsonObject {
  return paramsText === undefined ? params : (JSON.parse(paramsText) as JsonObject);
}
