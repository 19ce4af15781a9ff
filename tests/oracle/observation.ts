import type { Progress, ServerNotification } from "../../src/protocol/protocol-client.ts";
import type { ProtocolEra } from "../../src/protocol/wire/protocol-versions.ts";

/** Why there is no result, whoever says so in whichever words. */
export type Failure =
  | {
      readonly kind: "rpc";
      readonly code: number;
      readonly message: string;
      readonly data?: unknown;
    }
  /** `refused`: not sent. `hung`: neither ended nor given up after the longest time there is. */
  | { readonly kind: "timeout" | "cancelled" | "closed" | "invalid" | "refused" | "hung" }
  /** What the transport, which both share, says. */
  | { readonly kind: "transport"; readonly code: string };

export type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: Failure };

export function kindOf(outcome: Outcome): "ok" | Failure["kind"] {
  return outcome.ok ? "ok" : outcome.failure.kind;
}

/** What a client makes of the server it met. */
export interface ServerView {
  readonly era: ProtocolEra | undefined;
  readonly protocolVersion: string | undefined;
  readonly serverInfo: unknown;
  readonly capabilities: unknown;
  readonly instructions: string | undefined;
}

/** A message as the server saw it, with ids that mean the same whoever sent it. */
export type SeenMessage = Readonly<Record<string, unknown>>;

export interface OperationObservation {
  readonly outcome: Outcome;
  readonly progress: readonly Progress[];
  /** Its requests and what was said about them. */
  readonly sent: readonly SeenMessage[];
}

/** All that one client did with one transcript. */
export interface Observation {
  readonly connect: OperationObservation;
  /** One for each operation, unless connecting failed. */
  readonly operations: readonly OperationObservation[];
  /** What it passed on to whoever listens. */
  readonly notifications: readonly ServerNotification[];
  /** What it said to the server beside all operations: its answers. */
  readonly answers: readonly SeenMessage[];
  /** The connection ended before it was closed. */
  readonly hasEnded: boolean;
}
