import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";

/** Someone who waits for an answer and can be told that it will not come. */
export interface Wait {
  fail(error: McpError): void;
}

const handledMethods: ReadonlySet<string> = new Set([
  "notifications/cancelled",
  "notifications/message",
  "notifications/prompts/list_changed",
  "notifications/resources/list_changed",
  "notifications/resources/updated",
  "notifications/tools/list_changed",
]);

/** Whether the host has a use for the notification; progress is decided by its token instead. */
export function isHandledNotification(method: string): boolean {
  return handledMethods.has(method);
}

/**
 * How many notifications that nobody handles each wait has sat through. A server that sends them
 * instead of its answer fails the wait; one that sends a few now and then does not.
 */
export class NotificationBudget {
  readonly #limit: number;
  readonly #serverName: string;
  /** Each wait with the count at which it is over; insertion order is also the order of the counts. */
  readonly #waits = new Map<Wait, number>();
  #seen = 0;

  constructor(options: { readonly limit: number; readonly serverName: string }) {
    this.#limit = options.limit;
    this.#serverName = options.serverName;
  }

  begin(wait: Wait): void {
    this.#waits.set(wait, this.#seen + this.#limit);
  }

  end(wait: Wait): void {
    this.#waits.delete(wait);
  }

  /** Counts one; waits that have now seen more than the limit fail. */
  unhandled(): void {
    this.#seen += 1;
    for (const [wait, last] of this.#waits) {
      if (this.#seen <= last) return;
      this.#waits.delete(wait);
      wait.fail(
        createError(
          "protocol_violation",
          `the server sent more than ${this.#limit} notifications that nobody asked for instead of an answer`,
          { serverName: this.#serverName, details: { limit: this.#limit } },
        ),
      );
    }
  }
}
