import type { AskOptions, InputQuestion } from "../../human/human.ts";
import type { Dialogue } from "./dialogue.ts";

/** Asks for a value that an entry wants. Enter takes what is suggested; the end of input is no answer. */
export async function askInput(
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
