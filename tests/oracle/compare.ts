import { isDeepStrictEqual } from "node:util";

import type { Observation, OperationObservation } from "./observation.ts";
import type { Operation, Transcript } from "./transcript.ts";

/** A thing both clients do, as each of them did it. */
export interface Pair {
  readonly transcript: Transcript;
  /** Its place among the operations, or a part of the connection as a whole. */
  readonly place: number | "connect" | "connection";
  readonly operation: Operation | undefined;
  readonly core: OperationObservation | ConnectionObservation;
  readonly sdk: OperationObservation | ConnectionObservation;
}

export type ConnectionObservation = Pick<Observation, "notifications" | "answers" | "hasEnded">;
