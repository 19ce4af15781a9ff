import { untilAborted } from "../async/until-aborted.ts";
import { createError } from "../errors/families.ts";
import type { ConfirmAnswer, ShownMessage, ShownPrompt } from "../human/human.ts";
import {
  cutText,
  isUnseen,
  maxShownChars,
  type ShownText,
  trackShown,
} from "../human/shown-text.ts";
import type { RequestOwner } from "../protocol/wire/request-owner.ts";
import { isJsonObject, type JsonObject } from "../text/json-object.ts";
import { escapeInvisible } from "../text/untrusted/escape-invisible.ts";
import { type Asking, questionOrigin, refuseQuestion } from "./question.ts";

/** A server's request to a model. Only its shape has been checked; its texts are the server's. */
export interface SamplingRequest {
  readonly serverName: string;
  /** On whose behalf; absent when the request belongs to no call. */
  readonly agent?: string;
  readonly toolName?: string;
  readonly messages: readonly SamplingMessage[];
  readonly systemPrompt?: string;
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  /** Hints about which model would be best; nothing has to come of them. */
  readonly modelPreferences?: JsonObject;
}

export interface SamplingMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly SamplingContent[];
}

/** A block of text, an image or a sound, as the protocol writes it. */
export type SamplingContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string };

export interface SamplingResult {
  /** A string is a block of text. */
  readonly content: string | SamplingContent;
  /** The model that answered. */
  readonly model: string;
  /** `endTurn` by default. */
  readonly stopReason?: string;
}

/**
 * Asks the program's model. Giving one to the host offers it to every server: each request is put to
 * the person of its session first, where there is one who can be asked; in a program without a person
 * it is this function that decides, and throwing refuses.
 */
export type SamplingHandler = (
  request: SamplingRequest,
  options: { readonly signal: AbortSignal },
) => Promise<SamplingResult>;

/** Sessions that are remembered; the oldest is forgotten beyond that, and its person asked once more. */
const maxSessions = 1_000;

/** The session, and its state of consent, that a yes for the rest of the session holds for. */
interface AllowanceSubject {
  readonly sessionId: string;
  /** Changes when consent given before no longer counts. */
  readonly epoch: number;
}

/** The sessions that let one server ask the model without being asked again. */
export class SamplingAllowances {
  readonly #epochs = new Map<string, number>();

  has({ sessionId, epoch }: AllowanceSubject): boolean {
    return this.#epochs.get(sessionId) === epoch;
  }

  add({ sessionId, epoch }: AllowanceSubject): void {
    this.#epochs.delete(sessionId);
    this.#epochs.set(sessionId, epoch);
    const [oldest] = this.#epochs.keys();
    if (this.#epochs.size > maxSessions && oldest !== undefined) this.#epochs.delete(oldest);
  }
}

/** Names the session by its id, since each transaction of a session is another `caller` object. */
function allowanceSubject({ caller, target }: RequestOwner): AllowanceSubject {
  const { agent, sessionId } = caller;
  return { sessionId, epoch: target?.server?.consent.epoch(agent) ?? 0 };
}

export interface SamplingOptions {
  readonly handler: SamplingHandler;
  readonly allowances: SamplingAllowances;
}

/** Answers that a person may choose from; the last one needs a session. */
const ownedAnswers: readonly ConfirmAnswer[] = ["no", "once", "server-session"];
const unownedAnswers: readonly ConfirmAnswer[] = ["no", "once"];
/** Answers that allow this request; silence and any other word mean no. */
const yeses: ReadonlySet<ConfirmAnswer> = new Set([
  "once",
  "tool-session",
  "server-session",
  "tool-always",
  "server-always",
]);

const method = "sampling/createMessage";
const maxMessages = 256;
/** Limit for all messages together: each block is shown as a message of its own. */
const maxBlocks = 1_024;

/** Rejects with `consent_denied` when the person says no. */
export async function answerSampling(
  params: JsonObject,
  asking: Asking,
  { handler, allowances }: SamplingOptions,
): Promise<JsonObject> {
  const { signal } = asking;
  const request = { ...questionOrigin(asking), ...parseSampling(params) };
  await askConsent(request, asking, allowances);
  return resultOf(await untilAborted(handler(request, { signal }), signal));
}

type ParsedSampling = Omit<SamplingRequest, "serverName" | "agent" | "toolName">;

function parseSampling(params: JsonObject): ParsedSampling {
  const { messages, maxTokens, systemPrompt, temperature, stopSequences, modelPreferences } =
    params;
  if (params["tools"] !== undefined || params["toolChoice"] !== undefined)
    throw refuseQuestion(method, "tools for the model were not offered");
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > maxMessages)
    throw refuseQuestion(method, `it does not hold 1 to ${maxMessages} messages`);
  if (!Number.isSafeInteger(maxTokens) || (maxTokens as number) < 1)
    throw refuseQuestion(method, "it does not say how long the answer may be");
  const parsed = messages.map((message: unknown) => parseMessage(message));
  if (parsed.reduce((sum, { content }) => sum + content.length, 0) > maxBlocks)
    throw refuseQuestion(method, `its messages have more than ${maxBlocks} parts`);
  return {
    messages: parsed,
    maxTokens: maxTokens as number,
    ...(typeof systemPrompt === "string" && { systemPrompt }),
    ...(Number.isFinite(temperature) && { temperature: temperature as number }),
    ...(Array.isArray(stopSequences) && {
      stopSequences: stopSequences.filter((text) => typeof text === "string"),
    }),
    ...(isJsonObject(modelPreferences) && { modelPreferences }),
  };
}

function parseMessage(message: unknown): SamplingMessage {
  const { role, content } = isJsonObject(message) ? message : {};
  if (role !== "user" && role !== "assistant")
    throw refuseQuestion(method, "a message has neither the user nor the assistant for its author");
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  if (!blocks.every((block) => isContent(block)))
    throw refuseQuestion(method, "a message is neither text, image nor sound");
  return { role, content: blocks };
}

function isContent(block: unknown): block is SamplingContent {
  if (!isJsonObject(block)) return false;
  const { type, text, data, mimeType } = block;
  if (type === "text") return typeof text === "string";
  const isBinary = type === "image" || type === "audio";
  return isBinary && typeof data === "string" && typeof mimeType === "string";
}

async function askConsent(
  request: SamplingRequest,
  asking: Asking,
  allowances: SamplingAllowances,
): Promise<void> {
  const { human, owner } = asking;
  if (human?.confirm === undefined) return;
  const subject = owner === undefined ? undefined : allowanceSubject(owner);
  if (subject !== undefined && allowances.has(subject)) return;
  const answer = await confirmSampling(request, asking);
  if (answer === undefined || !yeses.has(answer))
    throw createError("consent_denied", "the server was not allowed to ask the model", {
      serverName: request.serverName,
    });
  if (answer === "server-session" && subject !== undefined) allowances.add(subject);
}

/** Asks the person. A `Human` that fails means no; it rejects only when the whole request is over. */
async function confirmSampling(
  request: SamplingRequest,
  asking: Asking,
): Promise<ConfirmAnswer | undefined> {
  const { human, owner, signal } = asking;
  const prompt = showPrompt(request);
  const question = {
    kind: "sampling" as const,
    ...questionOrigin(asking),
    prompt,
    answers: owner === undefined ? unownedAnswers : ownedAnswers,
  };
  try {
    const asked = human?.confirm?.(question, { signal });
    const answer = asked === undefined ? undefined : await untilAborted(asked, signal);
    return isPromptUnseen(prompt) ? "no" : answer;
  } catch (error) {
    if (signal.aborted) throw error;
    return "no";
  }
}

interface PromptBlock {
  readonly role: ShownMessage["role"];
  readonly content: SamplingContent;
}

const lineMark = "  | ";

/** Writes down everything the model would be told, as a person can read it. */
function showPrompt({ systemPrompt, messages }: SamplingRequest): ShownPrompt {
  const blocks: readonly PromptBlock[] = [
    ...(systemPrompt === undefined
      ? []
      : [{ role: "system" as const, content: { type: "text" as const, text: systemPrompt } }]),
    ...messages.flatMap(({ role, content }) => content.map((block) => ({ role, content: block }))),
  ];
  let charsLeft = maxShownChars;
  const shown = blocks.map(({ role, content }): ShownMessage => {
    const cut = cutContent(content, charsLeft);
    charsLeft = Math.max(0, charsLeft - cut.text.length);
    return trackShown({ role, type: content.type, ...cut });
  });
  return trackShown({
    messages: shown,
    text: shown.map((message) => marked(message, message.text)).join("\n"),
    omittedChars: shown.reduce((sum, { omittedChars }) => sum + omittedChars, 0),
    whole: async () => {
      const texts: string[] = [];
      for (const message of shown) texts.push(marked(message, await message.whole()));
      return texts.join("\n");
    },
  });
}

/** Whether a part of the prompt was never shown, neither at once nor part by part. */
function isPromptUnseen(prompt: ShownPrompt): boolean {
  return isUnseen(prompt) && prompt.messages.some((message) => isUnseen(message));
}

function cutContent(content: SamplingContent, maxChars: number): ShownText {
  if (content.type === "text") return cutText(content.text, { write: exactLines, maxChars });
  const bytes = Math.floor((content.data.length * 3) / 4);
  return cutText(`${content.mimeType}, ${bytes} bytes`, { maxChars });
}

/** Lines stay lines; a backslash is doubled, so that none can be mistaken for an escape. */
function exactLines(piece: string): string {
  return piece
    .split("\n")
    .map((line) => escapeInvisible(line.replaceAll("\\", "\\\\")))
    .join("\n");
}

function marked({ role, type }: ShownMessage, text: string): string {
  const head = type === "text" ? `${role}:` : `${role}, ${type}:`;
  return [head, ...text.split("\n").map((line) => `${lineMark}${line}`)].join("\n");
}

/** Checks the answer of the program's handler, so that a mistake in it does not reach the server. */
function resultOf({ content, model, stopReason = "endTurn" }: SamplingResult): JsonObject {
  const block = typeof content === "string" ? { type: "text", text: content } : content;
  if (!isContent(block) || typeof model !== "string")
    throw createError("invalid_result", "the model's answer is neither text, image nor sound");
  return { role: "assistant", content: block, model, stopReason };
}
