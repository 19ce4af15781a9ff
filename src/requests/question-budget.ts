import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { Clock } from "../ports/clock.ts";
import { TokenBucket } from "../protocol/channel/token-bucket.ts";

/** As many as one unfinished result of the modern era may ask at once. */
const maxOpen = 32;
/** A server of the legacy era asks one by one, so that the limit on rounds does not hold it. */
const maxPerCall = 64;
/** Questions that belong to no call, at once and then one a minute: there is no call to cancel. */
const maxUnowned = 16;
const unownedPerSecond = 1 / 60;

/** Limits how often one server may ask a person, or a model, over one connection. */
export class QuestionBudget {
  readonly #serverName: string;
  readonly #unowned: TokenBucket;
  readonly #perCall = new WeakMap<object, number>();
  #open = 0;

  constructor(serverName: string, clock: Clock) {
    this.#serverName = serverName;
    this.#unowned = new TokenBucket({ perSecond: unownedPerSecond, burst: maxUnowned, clock });
  }

  /** Throws `denied` when the server has had its share; else `end` is to be called once. */
  begin(owner: object | undefined): { readonly end: () => void } {
    if (this.#open >= maxOpen) throw this.#refusal(`more than ${maxOpen} questions at once`);
    if (owner === undefined && !this.#unowned.take())
      throw this.#refusal("too many questions that belong to no call");
    if (owner !== undefined) {
      const asked = this.#perCall.get(owner) ?? 0;
      if (asked >= maxPerCall) throw this.#refusal(`more than ${maxPerCall} questions in one call`);
      this.#perCall.set(owner, asked + 1);
    }
    this.#open += 1;
    return {
      end: () => {
        this.#open -= 1;
      },
    };
  }

  #refusal(what: string): McpError {
    return createError("denied", `the server asks ${what}`, { serverName: this.#serverName });
  }
}
