import { mcpResultToString } from "../call/projections.ts";
import type { ToolInvoked } from "../events/host-event.ts";
import { maskSecrets } from "../text/mask-secrets.ts";
import { redactValue, secretsIn } from "../text/redact-value.ts";
import { truncate } from "../text/truncate.ts";

const maxCalls = 1_000;
const maxText = 1_000;

/**
 * The last calls of a session, whatever became of them and of the state they touched. What they
 * returned is kept as text and cut. What looks like a secret in their arguments is not kept, nor what
 * their server was configured with, even where an answer repeats it.
 */
export class CallHistory {
  readonly #calls: ToolInvoked[] = [];
  readonly #secretsOf: (serverName: string) => readonly string[];
  #oldest = 0;

  constructor(secretsOf: (serverName: string) => readonly string[]) {
    this.#secretsOf = secretsOf;
  }

  readonly add = (call: ToolInvoked): void => {
    const { mcpServer, params } = call;
    const configured = mcpServer === null ? [] : this.#secretsOf(mcpServer);
    const kept = bounded(call, [...configured, ...secretsIn(params)]);
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

function bounded(call: ToolInvoked, secrets: readonly string[]): ToolInvoked {
  const { message, value, success } = call.result;
  const kept = (text: string): string => truncate(maskSecrets(text, secrets), maxText);
  return Object.freeze({
    ...call,
    params:
      call.params === null ? null : maskSecrets(redactValue(call.params, { maxText }), secrets),
    result: Object.freeze({
      message: kept(message),
      value: value === null ? null : kept(mcpResultToString(value)),
      success,
    }),
  });
}
