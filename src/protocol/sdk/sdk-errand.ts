import type { McpError } from "../../errors/mcp-error.ts";
import type { JsonObject } from "../../text/json-object.ts";
import type { OutgoingRequest, RpcRequest } from "../channel/rpc-request.ts";

/** A result as the SDK passed it on, with the text that only the channel had. */
export interface SdkAnswer {
  readonly result: JsonObject;
  readonly raw: string | undefined;
}

/** One request of ours on its way through the SDK, and the promise that its caller holds. */
export class SdkErrand {
  readonly request: OutgoingRequest;
  readonly promise: Promise<SdkAnswer>;
  /** What the channel keeps about the request; undefined until the SDK has sent it. */
  sent: RpcRequest | undefined;
  #resolve!: (answer: SdkAnswer) => void;
  #reject!: (error: unknown) => void;
  #isOver = false;

  constructor(request: OutgoingRequest) {
    this.request = request;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  succeed(result: JsonObject): void {
    this.#isOver = true;
    this.#resolve({ result, raw: this.sent?.raw });
  }

  fail(error: unknown): void {
    this.#isOver = true;
    this.#reject(error);
  }

  /**
   * What the SDK makes of a request or an answer it makes at once or in promises: when the loop turns
   * and nothing has come of it, nothing ever will.
   */
  failUnlessOverSoon(failure: () => McpError): void {
    setImmediate(() => {
      if (!this.#isOver) this.fail(failure());
    });
  }
}
