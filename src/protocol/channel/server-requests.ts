import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import { McpError } from "../../errors/mcp-error.ts";
import type { JsonObject } from "../../text/json-object.ts";
import { findHandler, type InputHandler, type InputHandlers } from "../wire/input-handlers.ts";
import { methodNotFound, type RequestId } from "../wire/json-rpc.ts";
import type { PausedDeadline } from "./deadlines.ts";

/** Questions of one server that may wait for their answers at the same time. */
const maxOpenQuestions = 16;

const invalidRequest = -32_600;
const invalidParams = -32_602;
const internalError = -32_603;
const tooManyQuestions = -32_000;
/** The protocol's own code for a person who says no. */
const declined = -1;

export interface ServerRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
}

export interface ServerRequestsOptions {
  readonly handlers: InputHandlers;
  readonly send: (answer: JSONRPCMessage) => void;
  /** Called when a question begins to wait for its answer; `resume` is called when the wait is over. */
  readonly begin: () => PausedDeadline;
}

/** Answers the requests that a server of the legacy era sends while it works, each at most once. */
export class ServerRequests {
  readonly #options: ServerRequestsOptions;
  readonly #open = new Map<RequestId, AbortController>();

  constructor(options: ServerRequestsOptions) {
    this.#options = options;
  }

  /** `isGreeted`: the handshake is over. Nothing was offered before, so there is nothing to ask for. */
  take({ id, method, params }: ServerRequest, isGreeted: boolean): void {
    const handler = isGreeted ? findHandler(this.#options.handlers, method) : undefined;
    if (method === "ping") this.#succeed(id, {});
    else if (handler === undefined) this.#fail(id, methodNotFound, "Method not found");
    else if (this.#open.has(id)) this.#fail(id, invalidRequest, "This id is in use");
    else if (this.#open.size >= maxOpenQuestions)
      this.#fail(id, tooManyQuestions, "Too many requests are waiting");
    else void this.#ask(id, handler, params);
  }

  /** The server no longer wants the answer, and gets none. */
  cancel(id: unknown): void {
    this.#open.get(id as RequestId)?.abort();
  }

  /** The connection is over: nobody has to answer any more. */
  end(): void {
    for (const abort of this.#open.values()) abort.abort();
  }

  async #ask(id: RequestId, handler: InputHandler, params: JsonObject): Promise<void> {
    const abort = new AbortController();
    const { signal } = abort;
    const { owner, resume } = this.#options.begin();
    this.#open.set(id, abort);
    try {
      const answer = await handler.answer(params, { signal, owner });
      if (!signal.aborted) this.#succeed(id, answer);
    } catch (error) {
      // Why it failed is none of the server's business.
      if (signal.aborted) return;
      if (McpError.is(error, "consent_denied") || McpError.is(error, "denied"))
        this.#fail(id, declined, "Declined");
      else if (McpError.is(error, "protocol_violation"))
        this.#fail(id, invalidParams, "Invalid params");
      else this.#fail(id, internalError, "No answer could be given");
    } finally {
      this.#open.delete(id);
      resume();
    }
  }

  #succeed(id: RequestId, result: JsonObject): void {
    this.#options.send({ jsonrpc: "2.0", id, result });
  }

  #fail(id: RequestId, code: number, message: string): void {
    this.#options.send({ jsonrpc: "2.0", id, error: { code, message } });
  }
}
