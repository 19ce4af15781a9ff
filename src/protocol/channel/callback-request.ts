import type { McpError } from "../../errors/mcp-error.ts";
import type { JsonObject } from "../../text/json-object.ts";
import { type OutgoingRequest, RpcRequest } from "./rpc-request.ts";

/** How a request ended: the server's result object, or the one typed error that says why there is none. */
export type RpcAnswer =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly error: McpError };

/** A request whose end is told to a function. */
export class CallbackRequest extends RpcRequest {
  readonly #settle: (answer: RpcAnswer) => void;

  constructor(request: OutgoingRequest, settle: (answer: RpcAnswer) => void) {
    super(request);
    this.#settle = settle;
  }

  override succeed(result: JsonObject): void {
    this.#settle({ ok: true, result });
  }

  override fail(error: McpError): void {
    this.#settle({ ok: false, error });
  }
}
