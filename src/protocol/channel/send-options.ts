import type { TransportSendOptions } from "@modelcontextprotocol/client";

import type { RequestStream } from "./request-stream.ts";

/** What a transport is told about a message. One that was made elsewhere looks at what the SDK has only. */
export interface SendOptions extends TransportSendOptions {
  /** The JSON of the message, where it is known already. */
  readonly text?: string | undefined;
  /** Of a request, in place of `requestSignal`, for a transport that takes it. */
  readonly stream?: RequestStream | undefined;
}
