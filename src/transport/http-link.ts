import type { Limits } from "../config/limits.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { HttpPeer } from "./http-errors.ts";
import type { ExchangeObserver, HttpExchange, HttpRequest, ResponseHead } from "./http-exchange.ts";
import type { HttpHeaders } from "./http-headers.ts";
import type { LingeringExchanges } from "./http-linger.ts";

/** Which connections a request uses; see `OriginLease`. */
export type HttpLane = "calls" | "streams";

/** What a call or a stream needs of the transport it belongs to. */
export interface HttpLink {
  readonly peer: HttpPeer;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly headers: HttpHeaders;
  readonly lingering: LingeringExchanges;
  open(lane: HttpLane, request: HttpRequest, observer: ExchangeObserver): HttpExchange;
  /**
   * Hands the message (or batch) in `text` to the protocol and returns it. What is no JSON object or
   * array is counted as junk, and nothing is returned; throws for one that is nested too deep.
   */
  receive(text: string): object | undefined;
  /** The answer to `initialize` decides about the session. */
  adoptSession(head: ResponseHead): void;
}
