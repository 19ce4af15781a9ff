import { createError } from "../../errors/families.ts";
import type { Human } from "../../human/human.ts";
import type { SamplingHandler } from "../../requests/sampling.ts";
import type { AnswerOf, Ask, AskMethod, Notice } from "./asks.ts";

/** On whose behalf a question is asked, so that a surface can tell its own from those of others. */
export interface Asker {
  /** The attached process whose session asks; absent for the host itself and for programs elsewhere. */
  readonly attachment?: string | undefined;
  /** That session of it. */
  readonly session?: string | undefined;
  /** Names a program elsewhere for people: `agent.mjs (process 4711)`. */
  readonly program?: string | undefined;
}

/** A place where a person may answer. */
export interface Answerer {
  /** Asks the person there. Rejects when nobody there can answer that. `signal` aborts when it is answered elsewhere. */
  ask(ask: Ask, asker: Asker, signal: AbortSignal): Promise<unknown>;
  notify(notice: Notice): void;
}

/**
 * The questions that are open, put to everybody who is there: the first answer counts, and the question is
 * withdrawn from the others. Whoever joins later is asked what is still open. With nobody there a question fails at
 * once, which means no wherever a person is asked.
 */
export class SharedQuestions {
  readonly #answerers = new Set<Answerer>();
  readonly #open = new Set<OpenQuestion>();

  get isAttended(): boolean {
    return this.#answerers.size > 0;
  }

  /** How many questions wait for an answer. */
  get openCount(): number {
    return this.#open.size;
  }

  /** Lets somebody answer, until the function it gives is called. */
  join(answerer: Answerer): () => void {
    this.#answerers.add(answerer);
    for (const question of this.#open) question.putTo(answerer);
    return () => {
      this.#answerers.delete(answerer);
      for (const question of this.#open) question.takeFrom(answerer);
    };
  }

  /** The people who are there as one person. */
  humanFor(asker: Asker = {}): Human {
    return {
      confirm: (question, { signal }) => this.ask({ method: "confirm", question }, asker, signal),
      elicit: (question, { signal }) => this.ask({ method: "elicit", question }, asker, signal),
      input: (question, { signal }) => this.ask({ method: "input", question }, asker, signal),
      openUrl: async (url, { signal }) => {
        await this.ask({ method: "openUrl", question: { url } }, asker, signal);
      },
      notify: (notice) => {
        for (const answerer of this.#answerers) answerer.notify(notice);
      },
    };
  }

  /** The people who are there in place of a model. */
  readonly sampling: SamplingHandler = (question, { signal }) =>
    this.ask({ method: "sample", question }, {}, signal);

  /** Rejects when nobody is there, when all have left, and when `signal` aborts. */
  async ask<A extends Ask>(
    ask: A,
    asker: Asker,
    signal: AbortSignal,
  ): Promise<AnswerOf[A["method"] & AskMethod]> {
    if (!this.isAttended) throw nobody();
    const question = new OpenQuestion(ask, asker);
    const giveUp = (): void => question.fail(signal.reason);
    signal.addEventListener("abort", giveUp, { once: true });
    if (signal.aborted) giveUp();
    this.#open.add(question);
    try {
      for (const answerer of this.#answerers) question.putTo(answerer);
      return (await question.answer) as AnswerOf[A["method"] & AskMethod];
    } finally {
      signal.removeEventListener("abort", giveUp);
      this.#open.delete(question);
      question.withdraw();
    }
  }
}

/** One question, and everybody it was put to. */
class OpenQuestion {
  readonly answer: Promise<unknown>;
  readonly #ask: Ask;
  readonly #asker: Asker;
  readonly #withdrawals = new Map<Answerer, AbortController>();
  #settle!: (answer: unknown) => void;
  #fail!: (reason: unknown) => void;

  constructor(ask: Ask, asker: Asker) {
    this.#ask = ask;
    this.#asker = asker;
    this.answer = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#fail = reject;
    });
    // It may fail before anybody waits for it.
    this.answer.catch(() => undefined);
  }

  putTo(answerer: Answerer): void {
    const withdrawal = new AbortController();
    this.#withdrawals.set(answerer, withdrawal);
    answerer.ask(this.#ask, this.#asker, withdrawal.signal).then(
      (answer) => this.#settle(answer),
      () => this.takeFrom(answerer),
    );
  }

  /** Somebody cannot answer, or has left. When nobody remains, there is no answer. */
  takeFrom(answerer: Answerer): void {
    if (!this.#withdrawals.delete(answerer)) return;
    if (this.#withdrawals.size === 0) this.#fail(nobody());
  }

  fail(reason: unknown): void {
    this.#fail(reason);
  }

  withdraw(): void {
    for (const withdrawal of this.#withdrawals.values()) withdrawal.abort();
    this.#withdrawals.clear();
  }
}

function nobody(): Error {
  return createError("consent_denied", "nobody is there who could be asked");
}
