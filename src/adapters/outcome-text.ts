import type { Outcome } from "../call/outcome.ts";

/** What the model reads of an outcome: the only place in which adapters decide it. */
export function outcomeText(outcome: Outcome): string {
  return outcome.ok ? outcome.text : outcome.error.message;
}
