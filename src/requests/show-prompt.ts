import type { ShownMessage, ShownPrompt } from "../human/human.ts";
import {
  cutText,
  isUnseen,
  maxShownChars,
  type ShownText,
  trackShown,
} from "../human/shown-text.ts";
import { exactText } from "../text/exact-text.ts";
import type { SamplingContent, SamplingRequest } from "./sampling.ts";

interface Block {
  readonly role: ShownMessage["role"];
  readonly content: SamplingContent;
}

const lineMark = "  | ";

/** Writes down everything the model would be told, as a person can read it. */
export function showPrompt({ systemPrompt, messages }: SamplingRequest): ShownPrompt {
  const blocks: readonly Block[] = [
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
export function isPromptUnseen(prompt: ShownPrompt): boolean {
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
    .map((line) => exactText(line.replaceAll("\\", "\\\\")))
    .join("\n");
}

function marked({ role, type }: ShownMessage, text: string): string {
  const head = type === "text" ? `${role}:` : `${role}, ${type}:`;
  return [head, ...text.split("\n").map((line) => `${lineMark}${line}`)].join("\n");
}
