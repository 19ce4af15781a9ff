import type { QuestionOwner } from "./question.ts";

/** A long-lived host makes sessions without end; who was forgotten is asked once more. */
const maxSessions = 1_000;

/** What a yes for the rest of a session is bound to, as of the moment of the question. */
export interface AllowanceSubject {
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

/** The session, not the caller: each transaction of a session calls through an object of its own. */
export function allowanceSubject({ caller, target }: QuestionOwner): AllowanceSubject {
  const { agent, sessionId } = caller;
  return { sessionId, epoch: target?.server?.users.consentEpoch(agent) ?? 0 };
}
