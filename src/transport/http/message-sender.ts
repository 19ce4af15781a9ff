import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { McpError } from "../../errors/mcp-error.ts";
import type { SendOptions } from "../../protocol/channel/channel-transport.ts";
import { answeredId } from "../reading/message-ids.ts";
import type { HttpLink } from "./http-client.ts";
import { type CallManner, HttpCall } from "./message-post.ts";

/** The messages of one transport that are under way: each in a POST of its own, none aware of the others. */
export class HttpCalls {
  /** For the messages that follow. */
  manner: CallManner;
  readonly #link: HttpLink;

  constructor(link: HttpLink, manner: CallManner = {}) {
    this.#link = link;
    this.manner = manner;
  }

  /**
   * Settles with the fate of the message: for a request it resolves once the answer was delivered and
   * rejects with an `McpError` when no answer can come any more. Nothing is ever sent twice.
   */
  send(message: JSONRPCMessage, options: SendOptions | undefined): Promise<void> {
    if (!this.#link.isOpen) return Promise.reject(this.#link.notOpen());
    return new Promise((resolve, reject) => {
      const body = options?.text ?? this.#link.stringify(message);
      const call = new HttpCall(this.#link, message, options, this.manner);
      call.run(body, (failure) => {
        if (failure === undefined) resolve();
        else reject(failure);
      });
    });
  }

  /** Settles the requests that a received message, or one of a batch, answers. */
  answeredElsewhere(received: object | undefined): void {
    for (const message of Array.isArray(received) ? received : [received])
      this.#link.openCalls.find(answeredId(message))?.answeredElsewhere();
  }

  /** Ends one request with `reason` unless it is over. True when nothing of it has left. */
  cancel(id: unknown, reason: McpError): boolean {
    const call = this.#link.openCalls.find(id);
    if (call === undefined) return false;
    const { isUnsent } = call;
    call.cancel(reason);
    return isUnsent;
  }

  cancelAll(reason: McpError): void {
    for (const call of this.#link.openCalls.all()) call.cancel(reason);
  }
}
