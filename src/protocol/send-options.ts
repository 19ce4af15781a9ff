import type { TransportSendOptions } from "@modelcontextprotocol/client";

/** What a transport is told about a message. One that was made elsewhere takes no notice of the text. */
export interface SendOptions extends TransportSendOptions {
  /** The JSON of the message, where it is known already. */
  readonly text?: string | undefined;
}
