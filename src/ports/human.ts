/** A yes/no question put to a person before something happens. */
export interface ConfirmQuestion {
  readonly kind: "tool-call" | "launch";
  readonly serverName: string;
  /** The tool's own name on its server; absent for a launch. */
  readonly toolName?: string;
  readonly agent?: string;
  /** Arguments exactly as they will be sent. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** The server says this tool may destroy something: such an answer covers one call only. */
  readonly isDestructive?: boolean;
}

/** `no` is also what silence, an error and a closed terminal mean. */
export type ConfirmAnswer = "no" | "once" | "tool-session" | "server-session";

/**
 * The only door to a person. Every method may be left out: a missing one means that nobody can be
 * asked, and what needed the answer is refused.
 */
export interface Human {
  confirm?(
    question: ConfirmQuestion,
    options: { readonly signal: AbortSignal },
  ): Promise<ConfirmAnswer>;
  notify?(notice: { readonly level: "info" | "warning" | "error"; readonly text: string }): void;
}
