import { mcpResultToString } from "../call/projections.ts";
import type { ToolInvoked } from "../events/host-event.ts";
import { redactValue } from "../text/redact-value.ts";
import { truncate } from "../text/truncate.ts";

const maxCalls = 1_000;
const maxText = 1_000;

/**
 * The last calls of a session, whatever became of them and of the state they touched. What they
 * returned is kept as text and cut; what looks like a secret in their arguments is not kept.
 */
export class CallHistory {
  readonly #calls: ToolInvoked[] = [];
  #oldest = 0;

  readonly add = (call: ToolInvoked): void => {
    const kept = bounded(call);
    if (this.#calls.length < maxCalls) {
      this.#calls.push(kept);
      return;
    }
    this.#calls[this.#oldest] = kept;
    this.#oldest = (this.#oldest + 1) % maxCalls;
  };

  /** The oldest first. */
  list(): readonly ToolInvoked[] {
    return [...this.#calls.slice(this.#oldest), ...this.#calls.slice(0, this.#oldest)];
  }
}

function bounded(call: ToolInvoked): ToolInvoked {
  const { message, value, success } = call.result;
  return Object.freeze({
    ...call,
    params: call.params === null ? null : redactValue(call.params, { maxText }),
    result: Object.freeze({
      message: truncate(message, maxText),
      value: value === null ? null : truncate(mcpResultToString(value), maxText),
      success,
    }),
  });
}
