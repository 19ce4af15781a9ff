import type { Human } from "../human/human.ts";
import type { Logger } from "../ports/logger.ts";
import type { ServerNotification } from "../protocol/protocol-client.ts";
import { isJsonObject } from "../text/json-object.ts";

/** Pages that one server may have open at once; of more, the oldest are forgotten. */
const maxPages = 64;
const maxIdChars = 256;

interface OpenedPage {
  /** The person who was sent there. */
  readonly human: Human;
  readonly host: string;
}

/** Remembers who was sent to which page by one server, and tells them when the server is done with it. */
export class OpenedPages {
  readonly #serverName: string;
  readonly #logger: Logger;
  readonly #pages = new Map<string, OpenedPage>();

  constructor(serverName: string, logger: Logger) {
    this.#serverName = serverName;
    this.#logger = logger;
  }

  /** `elicitationId` is the server's own name for the page; without one the server cannot report on it. */
  add(elicitationId: unknown, page: OpenedPage): void {
    if (!isId(elicitationId)) return;
    this.#pages.delete(elicitationId);
    this.#pages.set(elicitationId, page);
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= maxPages) break;
      this.#pages.delete(oldest);
    }
  }

  /** Tells the person, once. A report on anything but an open page is ignored. */
  heard({ method, params }: ServerNotification): void {
    if (method !== "notifications/elicitation/complete" || !isJsonObject(params)) return;
    const { elicitationId } = params;
    const page = isId(elicitationId) ? this.#pages.get(elicitationId) : undefined;
    if (page === undefined) return;
    this.#pages.delete(elicitationId as string);
    const { human, host } = page;
    const serverName = this.#serverName;
    try {
      human.notify?.({ level: "info", text: `${serverName}: done with the page of ${host}` });
    } catch (error) {
      this.#logger.warn("a person could not be told", { serverName, error: String(error) });
    }
  }
}

function isId(id: unknown): id is string {
  return typeof id === "string" && id !== "" && id.length <= maxIdChars;
}
