import type { ServerNotification } from "../protocol-client.ts";

/** Enough for the messages of a server that starts; most of them are lines of log. */
const maxCount = 100;
/** Limit for all notifications together, roughly in characters of JSON. */
const maxWeight = 256 * 1_024;

/**
 * Keeps the notifications that came before there was a handler: the first ones, in order, as many as the
 * bounds allow. Later ones are dropped without a warning, because there may never be a handler.
 */
export class EarlyNotifications {
  readonly #kept: ServerNotification[] = [];
  #weight = 0;

  get isEmpty(): boolean {
    return this.#kept.length === 0;
  }

  keep(notification: ServerNotification): void {
    if (this.#kept.length === maxCount) return;
    const room = maxWeight - this.#weight;
    const weight = weightOf(notification, room);
    if (weight > room) return;
    this.#weight += weight;
    this.#kept.push(notification);
  }

  [Symbol.iterator](): IterableIterator<ServerNotification> {
    return this.#kept.values();
  }
}

/** Roughly the characters of JSON of `value`; the count stops once it is over `limit`. */
function weightOf(value: unknown, limit: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  let weight = 2;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const member: unknown = (value as Readonly<Record<PropertyKey, unknown>>)[key];
    weight += String(key).length + weightOf(member, limit - weight);
    if (weight > limit) break;
  }
  return weight;
}
