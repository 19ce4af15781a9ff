import type { McpError } from "../../errors/mcp-error.ts";
import type { JsonObject } from "../../text/json-object.ts";
import { type OutgoingRequest, RpcRequest } from "./rpc-request.ts";

/** What was asked, for whoever reads the answer. */
export interface SentRequest extends OutgoingRequest {
  /** Monotonic time. */
  readonly sentAt: number;
  readonly raw?: string | undefined;
  /** Set when the answer depends on what someone was asked in between. */
  readonly tookInput?: boolean;
}

/** Makes of a result what the caller gets, or throws an `McpError`. */
export type ReadResult<T> = (result: JsonObject, request: SentRequest) => T | Promise<T>;

/** A request whose caller holds the one promise there is. */
export class PendingRequest<T> extends RpcRequest {
  readonly promise: Promise<T>;
  readonly #read: ReadResult<T>;
  #resolve!: (value: T | Promise<T>) => void;
  #reject!: (error: unknown) => void;

  constructor(request: OutgoingRequest, read: ReadResult<T>) {
    super(request);
    this.#read = read;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  override succeed(result: JsonObject): void {
    try {
      this.#resolve(this.#read(result, this));
    } catch (error) {
      this.#reject(error);
    }
  }

  override fail(error: McpError): void {
    this.#reject(error);
  }
}
