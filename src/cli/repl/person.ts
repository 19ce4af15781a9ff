import { createQueue } from "../../async/queue.ts";
import { createError } from "../../errors/families.ts";
import type { Human } from "../../human/human.ts";
import type { SamplingHandler } from "../../requests/sampling.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { Dialogue } from "../human/dialogue.ts";
import { createHumanAt } from "../human/terminal-human.ts";
import type { Places } from "../output/display-path.ts";
import type { AgentSeat } from "./agent-seat.ts";
import { askAboutCall } from "./call-question.ts";

/** What the person at the REPL answers with. */
export interface Person {
  readonly human: Human;
  /** The person in place of a model. */
  readonly sampling: SamplingHandler;
}

export interface PersonOptions {
  readonly dialogue: Dialogue;
  readonly places: Places;
  /** Made after the person, whom its host asks. */
  readonly seat: () => AgentSeat;
  /** A text that is written in the person's editor; undefined for one that was left empty. */
  readonly write: (signal: AbortSignal) => Promise<string | undefined>;
}

/** Whoever sits at the REPL, asked about one thing at a time. */
export function createPerson({ dialogue, places, seat, write }: PersonOptions): Person {
  const inTurn = createQueue();
  const terminal = createHumanAt(dialogue, places);
  const human: Human = {
    ...terminal,
    confirm: (question, options) =>
      inTurn(async () => {
        const { kind, agent, serverName, toolName } = question;
        const { signal } = options;
        if (signal.aborted) return "no";
        if (kind !== "tool-call" || serverName === undefined || toolName === undefined)
          return (await terminal.confirm?.(question, options)) ?? "no";
        const isChosen = seat().isChosen(agent, serverName, toolName);
        if (isChosen && question.isDestructive !== true) {
          // However long they are: this tool was chosen for whatever it is called with.
          await question.argumentsText?.whole();
          return "tool-session";
        }
        const claim = seat().claimOf(serverName, toolName);
        const answer = await askAboutCall(dialogue, { question, claim, signal });
        if (answer === "server-session" && agent !== undefined)
          await seat().askPerServer(agent, serverName);
        return answer;
      }),
    elicit: (question, options) =>
      inTurn(async () => (await terminal.elicit?.(question, options)) ?? { action: "cancel" }),
    input: (question, options) => inTurn(async () => await terminal.input?.(question, options)),
  };
  const sampling: SamplingHandler = ({ serverName }, { signal }) =>
    inTurn(async () => {
      const text = await readAnswer(dialogue, { serverName, signal, write });
      if (text === undefined)
        throw createError("consent_denied", "the person at the terminal gave no answer", {
          serverName,
        });
      return { content: text, model: "a person" };
    });
  return { human, sampling };
}

const editorWord = ":e";

/** A text of several lines, ended by a line with a dot; undefined when nothing was typed. */
async function readAnswer(
  dialogue: Dialogue,
  {
    serverName,
    signal,
    write,
  }: {
    readonly serverName: string;
    readonly signal: AbortSignal;
    readonly write: PersonOptions["write"];
  },
): Promise<string | undefined> {
  dialogue.note(
    `Your answer to ${neutralizeLine(serverName)}; a line with a single dot ends it, ` +
      `${editorWord} opens your editor, Enter alone declines:`,
  );
  const lines: string[] = [];
  for (;;) {
    const line = await dialogue.ask("| ", signal);
    if (line === undefined) return undefined;
    if (line === "" && lines.length === 0) return undefined;
    if (line === editorWord && lines.length === 0) return await write(signal);
    if (line === ".") return lines.join("\n");
    lines.push(line);
  }
}
