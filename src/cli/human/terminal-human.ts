import { homedir } from "node:os";

import { createQueue } from "../../async/queue.ts";
import type {
  AskOptions,
  ConfirmAnswer,
  ConfirmQuestion,
  ElicitAnswer,
  ElicitQuestion,
  Human,
  InputQuestion,
} from "../../human/human.ts";
import type { ShownText } from "../../human/shown-text.ts";
import { canOpenUrl, openUrl } from "../../isolation/open-url.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { Places } from "../output/display-path.ts";
import { isUtf8Locale, toAsciiGlyphs } from "../terminal/glyphs.ts";
import { browserPlace } from "./browser-place.ts";
import { describeLaunch } from "./describe-launch.ts";
import {
  type Dialogue,
  type ReadlineInterface,
  askThrough,
  isYes,
  readAnswer,
} from "./dialogue.ts";
import { fillForm } from "./fill-form.ts";

export interface TerminalHumanOptions {
  /** Where answers are typed; `process.stdin` by default. */
  readonly input?: (NodeJS.ReadableStream & { readonly isTTY?: boolean }) | undefined;
  /** Where questions are shown; `process.stderr` by default, which leaves stdout to results. */
  readonly output?: (NodeJS.WritableStream & { readonly isTTY?: boolean }) | undefined;
  /** The `node:readline/promises` interface of a program that reads lines itself: two cannot share an input. */
  readonly readline?: ReadlineInterface | undefined;
}

/**
 * The person at the terminal that the program runs in, asked one question at a time. Enter, the end of
 * input and a question that is withdrawn mean no. Where no terminal is, in a pipe or a service, it has
 * nobody to ask, as if the program had no human.
 */
export function createTerminalHuman(options: TerminalHumanOptions = {}): Human {
  const { input = process.stdin, output = process.stderr, readline } = options;
  const hasUtf8 = isUtf8Locale(process.env, process.platform);
  const write = (text: string): void => {
    output.write(hasUtf8 ? text : toAsciiGlyphs(text));
  };
  const dialogue: Dialogue = {
    note: (text) => write(`${text}\n`),
    ask: (prompt, signal, asked) => {
      if (readline !== undefined) return askThrough(readline, prompt, signal);
      return readAnswer(input, write, { prompt, signal, ...asked });
    },
  };
  const isThere = readline !== undefined || (input.isTTY === true && output.isTTY === true);
  if (!isThere) return { notify: noticesAt(dialogue) };
  return createHumanAt(dialogue, { cwd: process.cwd(), home: homedir() });
}

/** The same for a surface that has a dialogue of its own. */
export function createHumanAt(dialogue: Dialogue, places: Places): Human {
  // Several agents may want to know something: a person is asked about one after the other.
  const inTurn = createQueue();
  return {
    confirm: (question, options) => inTurn(() => confirm(dialogue, places, question, options)),
    elicit: (question, options) => inTurn(() => elicit(dialogue, question, options)),
    input: (question, options) => inTurn(() => askInput(dialogue, question, options)),
    openUrl: (url) => showPage(dialogue, url),
    notify: noticesAt(dialogue),
  };
}

/** Shows the address, and opens it where the person sees a screen of this machine. */
async function showPage(dialogue: Dialogue, url: string): Promise<void> {
  const place = browserPlace();
  const canOpen = canOpenUrl(place);
  dialogue.note(
    canOpen ? "Opening this address in your browser:" : "Open this address in a browser:",
  );
  dialogue.note(`  ${url}`);
  if (!canOpen) return;
  const opened = await openUrl(url, place);
  if (!opened.ok) dialogue.note(`⚠ it could not be opened: ${opened.reason}`);
}

function noticesAt(dialogue: Dialogue): NonNullable<Human["notify"]> {
  return ({ level, text }) => {
    dialogue.note(`${level === "info" ? "·" : "⚠"} ${neutralizeLine(text)}`);
  };
}

async function confirm(
  dialogue: Dialogue,
  places: Places,
  question: ConfirmQuestion,
  { signal }: AskOptions,
): Promise<ConfirmAnswer> {
  // Withdrawn while another question was open.
  if (signal.aborted) return "no";
  const { launch } = question;
  if (question.kind !== "launch") return await confirmUse(dialogue, question, signal);
  if (launch === undefined) return "no";
  for (const line of describeLaunch(launch, places)) dialogue.note(line);
  return isYes(await dialogue.ask("[y/N] ", signal)) ? "server-always" : "no";
}

async function confirmUse(
  dialogue: Dialogue,
  question: ConfirmQuestion,
  signal: AbortSignal,
): Promise<ConfirmAnswer> {
  dialogue.note(headlineOf(question));
  const shown = decisiveText(question);
  if (shown !== undefined) {
    for (const line of indented(shown.text)) dialogue.note(line);
    // A yes to what was not shown would count as a no.
    if (shown.omittedChars > 0) {
      dialogue.note(`  … ${shown.omittedChars.toLocaleString("en")} characters are not shown`);
      const wish = await dialogue.ask("Show all of it? [a/N] ", signal);
      if (wish?.toLowerCase() !== "a") return "no";
      for (const line of indented(await shown.whole())) dialogue.note(line);
    }
  }
  const choices = choicesOf(question);
  for (const [index, { text }] of choices.entries()) dialogue.note(`  ${index + 1}  ${text}`);
  const numbers = choices.map((_, index) => index + 1).join("/");
  const typed = await dialogue.ask(`[${numbers}/N] `, signal);
  // Where there is one yes, y is it as well.
  const choice = isYes(typed) && choices.length === 1 ? choices[0] : choices[Number(typed) - 1];
  return choice?.answer ?? "no";
}

async function elicit(
  dialogue: Dialogue,
  question: ElicitQuestion,
  { signal }: AskOptions,
): Promise<ElicitAnswer> {
  if (signal.aborted) return { action: "cancel" };
  for (const [index, line] of question.message.split("\n").entries())
    dialogue.note(index === 0 ? `${question.serverName} asks: ${line}` : `  ${line}`);
  if (question.kind === "form") return await fillForm(dialogue, question, signal);
  dialogue.note(`  ${question.url}`);
  const answer = await dialogue.ask(`Open this page of ${question.host}? [y/N] `, signal);
  if (answer === undefined) return { action: "cancel" };
  return { action: isYes(answer) ? "accept" : "decline" };
}

/** Asks for a value that an entry wants. Enter takes what is suggested; the end of input is no answer. */
async function askInput(
  dialogue: Dialogue,
  question: InputQuestion,
  { signal }: AskOptions,
): Promise<string | undefined> {
  // Withdrawn while another question was open.
  if (signal.aborted) return undefined;
  const { serverName, origin, id, description, isSecret, options } = question;
  const about = description === undefined ? "" : `: ${description}`;
  dialogue.note(`${serverName} needs "${id}" to start (${origin})${about}`);
  for (const [index, option] of options.entries()) dialogue.note(`  ${index + 1}  ${option}`);
  const suggested = question.default;
  const hint = suggested === undefined ? "" : ` (Enter: ${suggested})`;
  for (;;) {
    const line = await dialogue.ask(`  ${id}${hint}: `, signal, { isHidden: isSecret });
    if (line === undefined) return undefined;
    if (line === "") return suggested;
    const answer = options.length === 0 ? line : options[Number(line) - 1];
    if (answer !== undefined) return answer;
    dialogue.note(`  ⚠ a number from 1 to ${options.length}`);
  }
}

/** What a person may choose, in the order in which it is offered. */
export interface Choice {
  readonly answer: ConfirmAnswer;
  readonly text: string;
}

/** Who wants what, in one line. */
export function headlineOf(question: ConfirmQuestion): string {
  const agent = question.agent === undefined ? "An agent" : `"${neutralizeLine(question.agent)}"`;
  const server = nameOf(question.serverName);
  const tool = nameOf(question.toolName);
  switch (question.kind) {
    case "tool-call": {
      const name = question.serverName === undefined ? tool : `${server}.${tool}`;
      const claim = question.isDestructive === true ? ", which may destroy something" : "";
      return `${agent} wants to call ${name}${claim}:`;
    }
    case "content":
      return `${agent} wants to use what ${server} offers beside its tools (${tool}):`;
    case "sampling":
      return `${server} asks this program's model for an answer to:`;
    case "launch":
      return `Start ${server}?`;
  }
}

/** The text that the person decides on. */
function decisiveText(question: ConfirmQuestion): ShownText | undefined {
  return question.prompt ?? question.argumentsText;
}

function indented(text: string): readonly string[] {
  return text.split("\n").map((line) => `  ${line}`);
}

/** What may be answered to the question besides no. */
function choicesOf(question: ConfirmQuestion): readonly Choice[] {
  const { answers = ["once"], kind } = question;
  const server = nameOf(question.serverName);
  const one = kind === "content" ? `resources and prompts of ${server}` : nameOf(question.toolName);
  const all =
    kind === "sampling"
      ? `whatever ${server} asks the model`
      : `all of ${server} but what may destroy something`;
  const texts: Readonly<Record<ConfirmAnswer, string>> = {
    no: "no",
    once: "once",
    "tool-session": `${one}, for this session`,
    "server-session": `${all}, for this session`,
    "tool-always": `${one}, always`,
    "server-always": `${all}, always`,
  };
  return answers
    .filter((answer) => answer !== "no")
    .map((answer) => ({ answer, text: texts[answer] }));
}

function nameOf(name = ""): string {
  return neutralizeLine(name);
}
