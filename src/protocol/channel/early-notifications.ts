import type { ServerNotification } from "../protocol-client.ts";

/** Enough for what a server has to say while it starts; each is a line of log, as a rule. */
const maxCount = 100;
/** Of all that is kept, roughly in characters of JSON. */
const maxWeight = 256 * 1_024;

/**
 * Notifications that came before anybody listened, in their order: the first ones, as many as the bounds
 * allow. The others are dropped without a word, because there may never be anybody to listen.
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

/** Looks no further once `value` is found to be over `limit`. */
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
