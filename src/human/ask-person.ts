import { Stop } from "../async/stop.ts";
import { untilAborted } from "../async/until-aborted.ts";
import type { Clock } from "../ports/clock.ts";
import type { ConfirmAnswer, ConfirmQuestion, Human } from "./human.ts";

export interface AskPersonOptions {
  readonly human: Human | undefined;
  readonly clock: Clock;
  /** How long a person may think; `0` means for ever. */
  readonly timeoutMs: number;
  /** Aborted when the answer is no longer wanted. */
  readonly signals: readonly AbortSignal[];
}

/** Asks a person once. Silence, an error and nobody to ask all mean no. */
export async function askPerson(
  question: ConfirmQuestion,
  { human, clock, timeoutMs, signals }: AskPersonOptions,
): Promise<ConfirmAnswer> {
  if (human?.confirm === undefined) return "no";
  const stop = new Stop({ signals, clock, afterMs: timeoutMs > 0 ? timeoutMs : undefined });
  try {
    return await untilAborted(human.confirm(question, { signal: stop.signal }), stop.signal);
  } catch {
    return "no";
  } finally {
    stop.clear();
    // A surface that still shows the question may take it away.
    stop.abort();
  }
}

/**
 * Lets questions to a person take turns: one about each server at a time, because the answer to the
 * first may settle the others.
 */
export class QuestionTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `ask` when every earlier question of this key is over, however it ended. */
  async take<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const asked = before.then(ask, ask);
    this.#last.set(key, asked);
    try {
      return await asked;
    } finally {
      if (this.#last.get(key) === asked) this.#last.delete(key);
    }
  }
}
