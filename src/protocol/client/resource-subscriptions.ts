import { holdProcess, releaseProcess } from "../../ports/keep-alive.ts";
import type { JsonObject } from "../../text/json-object.ts";
import type { ChangeSubscription } from "./change-subscription.ts";

/** One connection is worth this many watched resources; a program that wants more polls instead. */
const maxWatched = 64;

export interface ResourceSubscriptionsOptions {
  readonly request: (method: string, params: JsonObject) => Promise<JsonObject>;
  /** In the modern era a resource is watched by a request that stays open. */
  readonly openStream: ((uri: string, onGap: () => void) => ChangeSubscription) | undefined;
  readonly tooMany: (limit: number) => Error;
}

type Handler = () => void;

/**
 * The handlers of changes to each resource. The server is asked once for each. A program that watches waits for news,
 * so the process lives until the last watch has ended, or the connection.
 */
export class ResourceSubscriptions {
  readonly #options: ResourceSubscriptionsOptions;
  readonly #handlers = new Map<string, Set<Handler>>();
  readonly #streams = new Map<string, ChangeSubscription>();
  #isHolding = false;
  #isOver = false;

  constructor(options: ResourceSubscriptionsOptions) {
    this.#options = options;
  }

  /** Resolves, once the server has been asked, to what ends it again. */
  async add(uri: string, handler: Handler): Promise<() => Promise<void>> {
    const known = this.#handlers.get(uri);
    if (known === undefined && this.#handlers.size >= maxWatched)
      throw this.#options.tooMany(maxWatched);
    const handlers = known ?? new Set();
    // A handler given twice is two handlers.
    const own = (): void => handler();
    handlers.add(own);
    this.#handlers.set(uri, handlers);
    this.#holdWhileWatched();
    if (known === undefined)
      try {
        await this.#begin(uri);
      } catch (error) {
        this.#handlers.delete(uri);
        this.#holdWhileWatched();
        throw error;
      }
    return async () => {
      if (handlers.delete(own) && handlers.size === 0) await this.#finish(uri);
    };
  }

  updated(params: JsonObject | undefined): void {
    const uri = params?.["uri"];
    if (typeof uri !== "string") return;
    for (const handler of this.#handlers.get(uri) ?? []) handler();
  }

  /** The connection is over. */
  end(): void {
    for (const stream of this.#streams.values()) stream.stop();
    this.#streams.clear();
    this.#handlers.clear();
    this.#isOver = true;
    this.#holdWhileWatched();
  }

  #holdWhileWatched(): void {
    const isWatched = this.#handlers.size > 0 && !this.#isOver;
    if (isWatched === this.#isHolding) return;
    this.#isHolding = isWatched;
    if (isWatched) holdProcess();
    else releaseProcess();
  }

  async #begin(uri: string): Promise<void> {
    const { openStream, request } = this.#options;
    if (openStream === undefined) {
      await request("resources/subscribe", { uri });
      return;
    }
    const stream = openStream(uri, () => this.updated({ uri }));
    this.#streams.set(uri, stream);
    stream.start();
  }

  async #finish(uri: string): Promise<void> {
    if (!this.#handlers.delete(uri)) return;
    this.#holdWhileWatched();
    const stream = this.#streams.get(uri);
    this.#streams.delete(uri);
    if (stream === undefined) await this.#options.request("resources/unsubscribe", { uri });
    else stream.stop();
  }
}
