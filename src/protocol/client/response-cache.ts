import type { Clock } from "../../ports/clock.ts";
import type { JsonObject } from "../../text/json-object.ts";
import type { ListKind } from "../wire/list-kind.ts";

const readMethod = "resources/read";

/** Results the protocol lets a client keep, with the list whose change makes them stale. */
const kindOfMethod: ReadonlyMap<string, ListKind> = new Map([
  ["tools/list", "tools"],
  ["prompts/list", "prompts"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resources"],
  [readMethod, "resources"],
]);
const cacheScopes: ReadonlySet<unknown> = new Set(["public", "private"]);

const maxEntries = 256;
const maxEntryChars = 1_024 * 1_024;
const maxTotalChars = 16 * maxEntryChars;

interface Entry {
  readonly kind: ListKind;
  /** The result as text, so that a caller who changes his copy changes no other. */
  readonly json: string;
  readonly staleAt: number;
}

/** Names a result before it is fetched, so that it can be found or kept afterwards. */
export interface CacheTicket {
  readonly key: string;
  readonly kind: ListKind;
  readonly generation: number;
}

export interface ResponseCacheOptions {
  readonly clock: Clock;
  readonly maxTtlMs: number;
}

/**
 * Results of one connection that the server said may be used again for a while. It belongs to that
 * connection alone, so no result ever reaches another principal, whatever its scope says.
 */
export class ResponseCache {
  readonly #options: ResponseCacheOptions;
  readonly #entries = new Map<string, Entry>();
  #totalChars = 0;
  /** Grows with every change, so that a result asked for before it is not kept after it. */
  #generation = 0;

  constructor(options: ResponseCacheOptions) {
    this.#options = options;
  }

  /** Undefined for requests whose results are never kept: other methods, and parameters of their own. */
  ticket(method: string, params: JsonObject): CacheTicket | undefined {
    const kind = kindOfMethod.get(method);
    if (kind === undefined) return undefined;
    const key = keyOf(method, params);
    return key === undefined ? undefined : { key, kind, generation: this.#generation };
  }

  find({ key }: CacheTicket): JsonObject | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.staleAt > this.#options.clock.monotonic())
      return JSON.parse(entry.json) as JsonObject;
    this.#delete(key, entry);
    return undefined;
  }

  /** Keeps a result, if the server allows it and nothing has changed since it was asked for. */
  keep({ key, kind, generation }: CacheTicket, result: JsonObject): void {
    const { ttlMs, cacheScope, nextCursor = null } = result;
    if (generation !== this.#generation || nextCursor !== null) return;
    if (typeof ttlMs !== "number" || !(ttlMs > 0) || !cacheScopes.has(cacheScope)) return;
    const json = JSON.stringify(result);
    if (json.length > maxEntryChars) return;
    const old = this.#entries.get(key);
    if (old !== undefined) this.#delete(key, old);
    const { clock, maxTtlMs } = this.#options;
    const staleAt = clock.monotonic() + Math.min(ttlMs, maxTtlMs);
    this.#entries.set(key, { kind, json, staleAt });
    this.#totalChars += json.length;
    this.#makeRoom();
  }

  /** A list of this kind has changed: nothing of it is good any more. */
  listChanged(kind: ListKind): void {
    this.#generation += 1;
    for (const [key, entry] of this.#entries) if (entry.kind === kind) this.#delete(key, entry);
  }

  resourceUpdated(params: JsonObject | undefined): void {
    this.#generation += 1;
    const key = keyOf(readMethod, { uri: params?.["uri"] });
    const entry = key === undefined ? undefined : this.#entries.get(key);
    if (key !== undefined && entry !== undefined) this.#delete(key, entry);
  }

  #makeRoom(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= maxEntries && this.#totalChars <= maxTotalChars) return;
      this.#delete(key, entry);
    }
  }

  #delete(key: string, { json }: Entry): void {
    this.#entries.delete(key);
    this.#totalChars -= json.length;
  }
}

/** A list as a whole, or a resource: a page of a list is not kept, for pages of different ages make no list. */
function keyOf(method: string, params: JsonObject): string | undefined {
  const names = Object.keys(params).filter((name) => name !== "_meta");
  if (method !== readMethod) return names.length === 0 ? method : undefined;
  const { uri } = params;
  return names.length === 1 && typeof uri === "string" ? `${method} ${uri}` : undefined;
}
