import type { Clock } from "../../src/ports/clock.ts";
import type { Progress, ServerNotification } from "../../src/protocol/protocol-client.ts";
import type { Failure, ServerView } from "./observation.ts";
import type { TappedTransport } from "./tapped-transport.ts";
import type { Operation, Transcript } from "./transcript.ts";

/** Time for an answer, unless the operation says otherwise. */
export const defaultTimeoutMs = 1_000;
export const connectTimeoutMs = 10_000;
export const clientInfo = { name: "oracle", version: "1.0.0" } as const;

/** What both answer when the server asks them and they have offered to. */
export const inputAnswers = {
  "elicitation/create": { action: "accept", content: { name: "Ada" } },
  "sampling/createMessage": {
    role: "assistant",
    content: { type: "text", text: "hm" },
    model: "some-model",
  },
  "roots/list": { roots: [{ uri: "file:///srv", name: "srv" }] },
} as const;

export type RequestOperation = Extract<
  Operation,
  { readonly do: "listTools" | "callTool" | "request" | "ping" }
>;

export interface RunOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Given when the operation asks for progress. */
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** One of the two clients under comparison, connected. */
export interface Connected {
  readonly server: ServerView;
  /** Resolves to the decoded result in the form both share; rejects with the client's own error. */
  run(operation: RequestOperation, options: RunOptions): Promise<unknown>;
  close(): Promise<void>;
}

export interface ConnectContext {
  readonly transcript: Transcript;
  readonly transport: TappedTransport;
  readonly clock: Clock;
  readonly onNotification: (notification: ServerNotification) => void;
  readonly onClose: () => void;
}

export interface Subject {
  connect(context: ConnectContext): Promise<Connected>;
  /** `isOpen`: whether the connection was still there when it was thrown. */
  failureOf(error: unknown, isOpen: boolean): Failure;
}

/** Members of `value` by these names, those that are there. */
export function pick(value: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).filter(([name, member]) => names.includes(name) && member !== undefined),
  );
}

export const toolMembers = [
  "name",
  "title",
  "description",
  "inputSchema",
  "outputSchema",
  "annotations",
  "icons",
  "_meta",
] as const;

/** A tool result in the form both share: `isError` is false when the server left it out. */
export function plainToolResult(result: {
  readonly content: unknown;
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  readonly _meta?: unknown;
}): unknown {
  return {
    ...pick(result, ["content", "structuredContent", "_meta"]),
    isError: result.isError === true,
  };
}
