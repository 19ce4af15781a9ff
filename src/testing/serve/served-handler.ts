import type { FetchHandler } from "../../listener/body-cap.ts";

/** A server as a web-standard handler, before anything listens: what stands in front can still be chosen. */
export interface ServedHandler {
  /** Where the handler answers; the first one is the address clients are given. */
  readonly paths: readonly string[];
  readonly fetch: FetchHandler;
  close(): Promise<void>;
}
