import type { ConfirmAnswer, ConfirmQuestion } from "../../human/human.ts";
import type { ShownText } from "../../human/shown-text.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";

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
export function decisiveText(question: ConfirmQuestion): ShownText | undefined {
  return question.prompt ?? question.argumentsText;
}

export function indented(text: string): readonly string[] {
  return text.split("\n").map((line) => `  ${line}`);
}

/** What may be answered to the question besides no. */
export function choicesOf(question: ConfirmQuestion): readonly Choice[] {
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
