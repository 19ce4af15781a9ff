import type { ProtocolEra } from "../../src/protocol/wire/protocol-versions.ts";

/**
 * A message of the client: its method and which of that method it is, from 1 ("tools/call#2"), for a
 * page also its cursor ("tools/list@more#1"). Answers to requests of the server are "answer#1" and so on.
 */
export type Label = string;

/**
 * Stands anywhere in a message for the id the client gave to `$id`, or, as `$token`, for the progress
 * token it sent along. `as` makes another value of it that a careless client takes for the same.
 */
export type Reference = ({ readonly $id: Label } | { readonly $token: Label }) & {
  readonly as?: "text" | "hex" | "beyond";
};

/** One thing a scripted server does. */
export type Emission =
  /** Sends a message, whatever it says; references in it are replaced. */
  | { readonly send: unknown }
  /** Sends exactly this text as one line or event; `<<label>>` in it becomes the id of that message. */
  | { readonly text: string }
  /** Does what follows only when that message has arrived. */
  | { readonly until: Label }
  /** Over HTTP, refuses the request at hand with this status; a pipe has nothing of the kind. */
  | { readonly status: number }
  /** Ends the connection; over HTTP, the response to the request at hand. */
  | { readonly end: true };

/** What the server does about each message of the client; about one that is not named, nothing. */
export type Reactions = Readonly<Record<Label, readonly Emission[]>>;

interface RequestChoices {
  /** The next operation begins before this one has ended. */
  readonly concurrent?: boolean;
  readonly progress?: boolean;
  readonly timeoutMs?: number;
}

export type Operation =
  | ({ readonly do: "listTools" } & RequestChoices)
  | ({
      readonly do: "callTool";
      readonly name: string;
      readonly args: Readonly<Record<string, unknown>>;
      /** The caller's signal is aborted before the call. */
      readonly aborted?: boolean;
    } & RequestChoices)
  | ({
      readonly do: "request";
      readonly method: string;
      readonly params?: Readonly<Record<string, unknown>>;
    } & RequestChoices)
  | ({ readonly do: "ping" } & RequestChoices)
  /** Aborts the signal of an operation before this one, by its place in the list. */
  | { readonly do: "abort"; readonly operation: number }
  /** Lets time pass. */
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "close" };

/** What a client does, and what the server it talks to does about it. */
export interface Transcript {
  readonly name: string;
  readonly era: ProtocolEra;
  /** `known`: the client was told the era, so it does not ask. */
  readonly negotiation: "auto" | "known";
  /** The client can ask its user, ask a model and name folders, and says so. */
  readonly offersInput?: boolean;
  readonly operations: readonly Operation[];
  readonly reactions: Reactions;
}
