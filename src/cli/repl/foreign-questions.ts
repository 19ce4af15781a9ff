import { joinSignals } from "../../async/stop.ts";
import { createError } from "../../errors/families.ts";
import type { AttachedSurface } from "../../host/resident/attached-host.ts";
import type { Human } from "../../human/human.ts";
import type { SamplingHandler } from "../../requests/sampling.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import { headlineOf } from "../human/terminal-human.ts";

const maxHeadlineChars = 120;

export interface ForeignQuestionsOptions {
  /** Tells a line above what is being typed. */
  readonly tell: (text: string) => void;
  /** The person here, asked in full when a question is taken up. */
  readonly human: Human;
  readonly sampling: SamplingHandler;
}

/** A question that waits here, and perhaps elsewhere, too. */
interface WaitingQuestion {
  readonly number: number;
  readonly headline: string;
  /** Aborts when it was answered elsewhere, or is no longer wanted. */
  readonly over: AbortSignal;
  /** Asks the person here, and hands the answer over. */
  readonly takeUp: (signal: AbortSignal) => Promise<void>;
}

/**
 * Questions of agents that others run: they interrupt nobody. Each is told in a line, and waits until somebody here takes
 * it up with `/answer`, or somebody elsewhere has answered.
 */
export class ForeignQuestions implements AttachedSurface {
  readonly #options: ForeignQuestionsOptions;
  readonly #waiting = new Map<number, WaitingQuestion>();
  #count = 0;

  constructor(options: ForeignQuestionsOptions) {
    this.#options = options;
  }

  humanFor(program: string | undefined): Human {
    const { human, tell } = this.#options;
    const from = program === undefined ? "" : ` · ${program}`;
    return {
      confirm: (question, { signal }) =>
        this.#wait(`${headlineOf(question)}${from}`, signal, (both) =>
          human.confirm?.(question, { signal: both }),
        ),
      elicit: (question, { signal }) =>
        this.#wait(`${question.serverName} asks: ${question.message}${from}`, signal, (both) =>
          human.elicit?.(question, { signal: both }),
        ),
      input: (question, { signal }) =>
        this.#wait(`${question.serverName} needs "${question.id}"${from}`, signal, (both) =>
          human.input?.(question, { signal: both }),
        ),
      openUrl: async (url, options) => await human.openUrl?.(url, options),
      notify: ({ level, text }) => tell(`${level === "info" ? "·" : "⚠"} ${lineOf(text)}`),
    };
  }

  readonly sampling: SamplingHandler = (request, { signal }) =>
    this.#wait(`${request.serverName} asks for the answer of a model`, signal, (both) =>
      this.#options.sampling(request, { signal: both }),
    );

  /** The questions that wait, a line each. */
  lines(): readonly string[] {
    return [...this.#waiting.values()].map(({ number, headline }) => `  ${number}  ${headline}`);
  }

  /** Asks the person about one of them; the oldest where no number is given. Throws `invalid_arguments` for none. */
  async answer(number: string | undefined, signal: AbortSignal): Promise<void> {
    const [oldest] = this.#waiting.values();
    const wanted = number === undefined ? oldest : this.#waiting.get(Number(number));
    if (wanted === undefined) {
      const which = number === undefined ? "" : ` ${number.slice(0, 20)}`;
      throw createError("invalid_arguments", `no question${which} waits for an answer`, {
        hint: "/questions lists them",
      });
    }
    await wanted.takeUp(signal);
  }

  #wait<T>(
    headline: string,
    over: AbortSignal,
    ask: (signal: AbortSignal) => Promise<T> | undefined,
  ): Promise<T> {
    const number = (this.#count += 1);
    const shown = boundedLine(headline, maxHeadlineChars);
    const { tell } = this.#options;
    tell(`? ${shown}   /answer ${number}`);
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiting.delete(number);
        over.removeEventListener("abort", withdraw);
      };
      const withdraw = (): void => {
        end();
        tell(`· question ${number} is settled`);
        reject(createError("cancelled", "it was answered elsewhere"));
      };
      over.addEventListener("abort", withdraw, { once: true });
      const takeUp = async (signal: AbortSignal): Promise<void> => {
        const asked = ask(joinSignals(over, signal));
        if (asked === undefined) return;
        const answer = await asked;
        // Ctrl-C puts the question away; it goes on waiting.
        if (signal.aborted || over.aborted) return;
        end();
        resolve(answer);
      };
      this.#waiting.set(number, { number, headline: shown, over, takeUp });
    });
  }
}

function lineOf(text: string): string {
  return boundedLine(text, maxHeadlineChars);
}
