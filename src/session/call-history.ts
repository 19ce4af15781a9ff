import { mcpResultToString } from "../call/projections.ts";
import type { ToolInvoked } from "../events/host-event.ts";
import { maskSecrets } from "../text/secrets/mask-secrets.ts";
import { redactValue } from "../text/secrets/redact-value.ts";
import { truncate } from "../text/truncate.ts";

const maxCalls = 1_000;
const maxText = 1_000;
/** Characters of a text that are searched for secrets: more than are kept, because masks shorten the text. */
const maxTextRead = 20_000;

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
    const { mcpServer } = call;
    const kept = bounded(call, mcpServer === null ? [] : this.#secretsOf(mcpServer));
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

function bounded(call: ToolInvoked, configured: readonly string[]): ToolInvoked {
  const { message, value, success } = call.result;
  const { value: params, secrets: named } = redactValue(call.params, { maxText });
  const secrets = [...configured, ...named];
  return Object.freeze({
    ...call,
    params: maskSecrets(params, secrets),
    result: Object.freeze({
      message: boundedText(message, secrets),
      value: value === null ? null : boundedText(mcpResultToString(value), secrets),
      success,
    }),
  });
}

function boundedText(text: string, secrets: readonly string[]): string {
  const possible = secrets.filter(({ length }) => length <= text.length);
  const longest = possible.reduce((most, { length }) => Math.max(most, length), 0);
  const read = maxTextRead + longest;
  if (text.length <= read) return truncate(maskSecrets(text, possible), maxText);
  // A secret that was cut in two is not found: where one may be is not kept.
  const masked = maskSecrets(text.slice(0, read), possible);
  return truncate(`${masked.slice(0, Math.max(0, masked.length - longest))}…`, maxText);
}
