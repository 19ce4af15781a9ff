import type { LaunchQuestion } from "./launch-question.ts";
import type { ShownText } from "./shown-text.ts";

/**
 * A yes/no question put to a person before something happens. What it shows is what happens: a yes to one
 * that shows a text only in part, and whose answerer never asked for the whole, is a no.
 */
export interface ConfirmQuestion {
  /**
   * `content`: what a server offers beside tools is to be used, its resources, prompts or what completes
   * them; `tool-…` answers to that cover all of it. `sampling`: the server asks for an answer of the
   * program's model, at the program's expense.
   */
  readonly kind: "tool-call" | "content" | "launch" | "sampling";
  /** Absent for a tool of the program itself. */
  readonly serverName?: string;
  /** The tool's own name on its server, `read_resource` or `get_prompt` of content; absent for a launch. */
  readonly toolName?: string;
  readonly agent?: string;
  /** Arguments exactly as they will be sent. Whoever reads them here has seen the whole. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** The arguments as text for a person to read: the JSON that is sent. */
  readonly argumentsText?: ShownText;
  /** The server says this tool may destroy something: such an answer covers one call only. */
  readonly isDestructive?: boolean;
  /**
   * What may be answered to this question. A yes that reaches further is a yes to this one call; to a
   * launch, where there is no such thing, anything else is a no.
   */
  readonly answers?: readonly ConfirmAnswer[];
  /** What the model would be told; only of `sampling`. */
  readonly prompt?: ShownPrompt;
  /** What would be started; only of a launch. A yes is bound to its `launchId`. */
  readonly launch?: LaunchQuestion;
}

/**
 * A prompt as text, in which every line of a message is marked as such: none can pass for the beginning
 * of another message.
 */
export interface ShownPrompt extends ShownText {
  /** The messages of the prompt, block by block. */
  readonly messages: readonly ShownMessage[];
}

/** One block of a message; of an image or a sound `text` says only what it is. */
export interface ShownMessage extends ShownText {
  readonly role: "system" | "user" | "assistant";
  readonly type: "text" | "image" | "audio";
}

/**
 * `no` is also what silence, an error and a closed terminal mean. `…-session` lasts as long as the
 * agent's session, `…-always` is kept; each covers exactly the definitions the server has now.
 */
export type ConfirmAnswer = (typeof confirmAnswers)[number];

/** Every answer, from the narrowest to the widest. */
export const confirmAnswers = [
  "no",
  "once",
  "tool-session",
  "server-session",
  "tool-always",
  "server-always",
] as const;

/** The fields of every question that a server asks; every text in it is safe to show. */
interface ServerQuestion {
  readonly serverName: string;
  /** The agent and the tool of the call; both are absent when the question belongs to no call. */
  readonly agent?: string;
  readonly toolName?: string;
  readonly message: string;
}

/** A form to fill in. Never a place for passwords: servers have to ask for those on a page of their own. */
export interface FormQuestion extends ServerQuestion {
  readonly kind: "form";
  readonly fields: readonly FormField[];
  /** What was wrong with the answer before this one. */
  readonly problem?: string;
}

/** An address to open. Nothing has been fetched from it, and nothing is opened without `accept`. */
export interface UrlQuestion extends ServerQuestion {
  readonly kind: "url";
  /** To be shown in full: it is exactly what will be opened. */
  readonly url: string;
  /** The part of it that says whose page it is. */
  readonly host: string;
}

export type ElicitQuestion = FormQuestion | UrlQuestion;

interface FieldBase {
  /** The key of its value in the answer, as the server wrote it: not for display. */
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly isRequired: boolean;
}

export interface TextField extends FieldBase {
  readonly type: "text";
  readonly format?: TextFormat;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly default?: string;
}

export type TextFormat = "email" | "uri" | "date" | "date-time";

export interface NumberField extends FieldBase {
  readonly type: "number" | "integer";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

export interface BooleanField extends FieldBase {
  readonly type: "boolean";
  readonly default?: boolean;
}

export interface ChoiceField extends FieldBase {
  readonly type: "choice";
  readonly options: readonly FieldOption[];
  readonly default?: string;
}

export interface ChoicesField extends FieldBase {
  readonly type: "choices";
  readonly options: readonly FieldOption[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: readonly string[];
}

export interface FieldOption {
  /** What the answer holds, as the server wrote it: not for display. */
  readonly value: string;
  readonly title: string;
}

export type FormField = TextField | NumberField | BooleanField | ChoiceField | ChoicesField;
export type FieldValue = string | number | boolean | readonly string[];

/**
 * `decline` is a no, `cancel` a question that was put away. A field left out of `content` gets the
 * default the form shows, if it has one.
 */
export type ElicitAnswer =
  | { readonly action: "accept"; readonly content?: Readonly<Record<string, FieldValue>> }
  | { readonly action: "decline" | "cancel" };

/** A value that the entry of a server asks for with `${input:id}`; every text in it is safe to show. */
export interface InputQuestion {
  readonly serverName: string;
  /** Where the entry stands: `.vscode/mcp.json:7`. */
  readonly origin: string;
  /** What the entry calls it. */
  readonly id: string;
  readonly description?: string;
  /** What is typed must not be seen. It is kept as a secret either way. */
  readonly isSecret: boolean;
  /** What is suggested. */
  readonly default?: string;
  /** What there is to choose from; anything may be typed where it is empty. */
  readonly options: readonly string[];
}

export interface AskOptions {
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/**
 * The only door to a person. Every method may be left out: a missing one means that nobody can be
 * asked, and what needed the answer is refused.
 */
export interface Human {
  confirm?(question: ConfirmQuestion, options: AskOptions): Promise<ConfirmAnswer>;
  /**
   * A server asks, in the middle of a call or on its own; several questions may be open at once. An
   * answer that does not fit the form is asked for again.
   */
  elicit?(question: ElicitQuestion, options: AskOptions): Promise<ElicitAnswer>;
  /**
   * The entry of a server asks for a value before the server starts, after its launch was approved. Undefined
   * when there is no answer: the server does not start then.
   */
  input?(question: InputQuestion, options: AskOptions): Promise<string | undefined>;
  /** Opens an address the person has agreed to; rejects when that fails. */
  openUrl?(url: string, options: AskOptions): Promise<void>;
  notify?(notice: { readonly level: "info" | "warning" | "error"; readonly text: string }): void;
}
