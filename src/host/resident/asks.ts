import { createError } from "../../errors/families.ts";
import {
  type ConfirmAnswer,
  confirmAnswers,
  type ConfirmQuestion,
  type ElicitAnswer,
  type ElicitQuestion,
  type InputQuestion,
  type ShownPrompt,
} from "../../human/human.ts";
import type { ShownText } from "../../human/shown-text.ts";
import type { SamplingRequest, SamplingResult } from "../../requests/sampling.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";

/** Something that a person is asked, in whichever process the person sits: a method of `Human`, or a model's part. */
export type Ask =
  | { readonly method: "confirm"; readonly question: ConfirmQuestion }
  | { readonly method: "elicit"; readonly question: ElicitQuestion }
  | { readonly method: "input"; readonly question: InputQuestion }
  | { readonly method: "openUrl"; readonly question: { readonly url: string } }
  | { readonly method: "sample"; readonly question: SamplingRequest };

export type AskMethod = Ask["method"];

export interface AnswerOf {
  readonly confirm: ConfirmAnswer;
  readonly elicit: ElicitAnswer;
  readonly input: string | undefined;
  readonly openUrl: undefined;
  readonly sample: SamplingResult;
}

/** Texts of a question that may be cut: the parts that somebody can ask for whole. */
export const cutParts = ["argumentsText", "prompt"] as const;
export type CutPart = (typeof cutParts)[number];

/** A notice for people, as `Human.notify` takes it. */
export interface Notice {
  readonly level: "info" | "warning" | "error";
  readonly text: string;
}

/**
 * The question as JSON. Arguments that are shown only in part go as that text alone: reading them here would count as
 * having seen all of them.
 */
export function toWire({ method, question }: Ask): JsonObject {
  if (method !== "confirm") return { ...question };
  const { argumentsText, prompt, ...rest } = propertiesOf(question);
  const isWhole = argumentsText?.omittedChars === 0;
  return {
    ...rest,
    ...(isWhole ? { arguments: question.arguments } : {}),
    ...(argumentsText === undefined ? {} : { argumentsText: shownText(argumentsText) }),
    ...(prompt === undefined
      ? {}
      : { prompt: { ...shownText(prompt), messages: prompt.messages.map(messageOf) } }),
  };
}

/** A copy without reading `arguments`, which is a getter that notes that somebody looked. */
function propertiesOf(question: ConfirmQuestion): ConfirmQuestion {
  const { kind, serverName, toolName, agent, argumentsText, isDestructive } = question;
  const { answers, prompt, launch } = question;
  const given = { serverName, toolName, agent, argumentsText, isDestructive, answers };
  const present = Object.entries({ ...given, prompt, launch }).filter(
    ([, value]) => value !== undefined,
  );
  return { kind, ...Object.fromEntries(present) };
}

function shownText({ text, omittedChars }: ShownText): JsonObject {
  return { text, omittedChars };
}

function messageOf(message: ShownPrompt["messages"][number]): JsonObject {
  const { role, type } = message;
  return { role, type, ...shownText(message) };
}

/** Gets the whole of a cut text from whoever asked. */
export type LoadWhole = (part: CutPart) => Promise<string>;

/** Reads what `toWire` wrote. Throws `protocol_violation` for what it cannot have written. */
export function fromWire(method: unknown, question: unknown, loadWhole: LoadWhole): Ask {
  if (!isJsonObject(question)) throw notUnderstood();
  switch (method) {
    case "confirm":
      return { method, question: readConfirm(question, loadWhole) };
    case "elicit":
    case "input":
    case "openUrl":
    case "sample":
      return { method, question } as unknown as Ask;
    default:
      throw notUnderstood();
  }
}

function readConfirm(question: JsonObject, loadWhole: LoadWhole): ConfirmQuestion {
  const revived = cutParts.flatMap((part) => {
    const shown = question[part];
    if (!isJsonObject(shown)) return [];
    const whole = (): Promise<string> => loadWhole(part);
    const messages = Array.isArray(shown["messages"])
      ? { messages: shown["messages"].map((message: JsonObject) => ({ ...message, whole })) }
      : {};
    return [[part, { ...shown, ...messages, whole }]];
  });
  return { ...question, ...Object.fromEntries(revived) } as ConfirmQuestion;
}

function notUnderstood(): Error {
  return createError("protocol_violation", "a question of the host that runs here is none");
}

/** The answer to an ask of this method; undefined for JSON that answers nothing of the kind. */
export function readAnswer<M extends AskMethod>(
  method: M,
  answer: unknown,
): { readonly value: AnswerOf[M] } | undefined {
  const value = readValue(method, answer);
  return value as { readonly value: AnswerOf[M] } | undefined;
}

function readValue(method: AskMethod, answer: unknown): { readonly value: unknown } | undefined {
  switch (method) {
    case "confirm":
      return (confirmAnswers as readonly unknown[]).includes(answer)
        ? { value: answer }
        : undefined;
    case "elicit": {
      const { action } = isJsonObject(answer) ? answer : {};
      const isKnown = action === "accept" || action === "decline" || action === "cancel";
      return isKnown ? { value: answer } : undefined;
    }
    case "input":
      if (answer === null || answer === undefined) return { value: undefined };
      return typeof answer === "string" ? { value: answer } : undefined;
    case "openUrl":
      return { value: undefined };
    case "sample": {
      const { model, content } = isJsonObject(answer) ? answer : {};
      const isResult = typeof model === "string" && content !== undefined;
      return isResult ? { value: answer } : undefined;
    }
  }
}
