import type { ConfirmAnswer, ConfirmQuestion } from "../../human/human.ts";
import { escapeInvisible } from "../../text/untrusted/escape-invisible.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import { type Dialogue, isYes } from "../human/dialogue.ts";

const maxValueChars = 40;
const maxLineChars = 96;

/** An answer that is offered at the prompt. What lasts longer than the session is given elsewhere, after a second thought. */
type Offered = Extract<ConfirmAnswer, "once" | "tool-session" | "server-session">;

/**
 * Asks whether an agent may make one call. Arguments are shown short; a yes counts only once all of them were on the
 * screen, and `v` shows them. Enter, the end of input and anything else mean no.
 */
export async function askAboutCall(
  dialogue: Dialogue,
  { question, claim, signal }: AskedCall,
): Promise<ConfirmAnswer> {
  const { serverName = "", toolName = "", agent = "", answers = ["once"] } = question;
  const server = neutralizeLine(serverName);
  const tool = neutralizeLine(toolName);
  dialogue.note(`${server} wants to run  ${tool}   (${claim})   agent ${neutralizeLine(agent)}`);
  const { lines, isWhole } = shownArguments(question);
  for (const line of lines) dialogue.note(line);
  const offered = (["once", "tool-session", "server-session"] as const).filter((answer) =>
    answers.includes(answer),
  );
  const texts: Readonly<Record<Offered, string>> = {
    once: "once",
    "tool-session": "this tool, this session",
    "server-session": `all ${server} tools but destructive, this session`,
  };
  const choices = offered.map((answer, index) => `${index + 1} ${texts[answer]}`);
  dialogue.note(`  ${[...choices, "n no"].join("   ")}`);
  const prompt = `[${[...offered.keys()].map((index) => index + 1).join("/")}/n] `;
  let isSeen = isWhole;
  for (;;) {
    const typed = await dialogue.ask(prompt, signal);
    const answer = isYes(typed) && offered.length === 1 ? offered[0] : offered[Number(typed) - 1];
    const wantsAll = typed?.toLowerCase() === "v";
    if (answer === undefined && !wantsAll) return "no";
    if (answer !== undefined && isSeen) return answer;
    if (answer !== undefined) dialogue.note("  This is all of it; answer once more:");
    const whole = (await question.argumentsText?.whole()) ?? "{}";
    for (const line of whole.split("\n")) dialogue.note(`  ${line}`);
    isSeen = true;
  }
}

export interface AskedCall {
  readonly question: ConfirmQuestion;
  /** What the server says of the tool. */
  readonly claim: string;
  readonly signal: AbortSignal;
}

/** Arguments that come from another process are there only if they are short. */
function shownArguments(question: ConfirmQuestion): ReturnType<typeof shortArguments> {
  const { arguments: args, argumentsText } = question;
  if (args !== undefined || argumentsText === undefined) return shortArguments(args ?? {});
  const text = argumentsText.text.slice(0, maxValueChars);
  return { lines: [`  ${text}…     (v: full JSON)`], isWhole: false };
}

/** The arguments in a line or two, and whether that is all of them. */
function shortArguments(args: Readonly<Record<string, unknown>>): {
  readonly lines: readonly string[];
  readonly isWhole: boolean;
} {
  const parts = Object.entries(args).map(([key, value]) => shortValue(key, value));
  const isWhole = parts.every((part) => part.isWhole);
  const lines: string[] = [];
  for (const { text } of parts) {
    const last = lines.at(-1);
    const joined = last === undefined ? undefined : `${last}     ${text}`;
    if (joined !== undefined && joined.length <= maxLineChars) lines[lines.length - 1] = joined;
    else lines.push(`  ${text}`);
  }
  if (!isWhole) lines[lines.length - 1] = `${lines.at(-1) ?? ""}     (v: full JSON)`;
  return { lines, isWhole };
}

function shortValue(
  key: string,
  value: unknown,
): { readonly text: string; readonly isWhole: boolean } {
  const name = escapeInvisible(key).slice(0, maxValueChars);
  const json = JSON.stringify(value) ?? "null";
  const shown = escapeInvisible(json);
  const isWhole = shown.length <= maxValueChars && key.length <= maxValueChars;
  if (isWhole) return { text: `${name}  ${shown}`, isWhole };
  const bytes = Buffer.byteLength(json);
  const size = bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`;
  return { text: `${name}  ${shown.slice(0, maxValueChars)}… ${size}`, isWhole };
}
