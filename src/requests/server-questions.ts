import type { ServerConfig } from "../config/server-config.ts";
import { createError } from "../errors/families.ts";
import type { Human } from "../human/human.ts";
import type { JsonObject } from "../protocol/json-object.ts";
import type { ProtocolClient } from "../protocol/protocol-client.ts";
import { ServerDesk } from "./connection-questions.ts";
import type { DeskParts } from "./desk-parts.ts";
import { describeRoots, type Roots } from "./roots.ts";

/** A connection to a server that may be open. */
interface OpenConnection {
  readonly openClient: Pick<ProtocolClient, "era" | "notify"> | undefined;
}

/**
 * What servers may ask of this host: of a person, of the program's model, and which folders they may
 * work in. Nothing is offered that nobody could answer. What is offered on a connection is settled
 * when it opens: a session that comes later changes it for connections opened after that.
 */
export class RequestDesk {
  readonly #parts: DeskParts;
  #roots: Roots | undefined;
  #hasForms = false;
  #hasUrls = false;

  /** Throws `config_invalid` for a root that is no folder. */
  constructor(parts: DeskParts) {
    this.#parts = parts;
    if (parts.roots !== undefined) this.#roots = checkedRoots(parts.roots, parts.cwd);
    this.introduce(parts.human);
  }

  /** Someone who answers for a session: from now on forms and addresses may be worth asking about. */
  introduce(human: Human | undefined): void {
    if (human?.elicit === undefined) return;
    this.#hasForms = true;
    this.#hasUrls ||= human.openUrl !== undefined;
  }

  /** The desk of one connection to a server: an agent's own, or everybody's where `owner` is null. */
  forServer(config: ServerConfig, owner: string | null): ServerDesk {
    return new ServerDesk({ config, owner }, this.#parts, () => ({
      elicitation: this.#elicitation(),
      sampling: this.#parts.sampling,
      roots: this.#roots === undefined ? undefined : () => this.#roots ?? [],
    }));
  }

  /**
   * From now on servers are told these, and those that are connected that something changed. Rejects
   * with `config_invalid` when roots were never offered to any server.
   */
  async setRoots(roots: Roots, connections: readonly OpenConnection[]): Promise<void> {
    if (this.#roots === undefined)
      throw createError("config_invalid", "this host offers no roots to its servers", {
        hint: "give createHost a list of roots; it may be empty",
      });
    this.#roots = checkedRoots(roots, this.#parts.cwd);
    const told = connections.map(async ({ openClient }) => {
      // The modern era asks for the roots with each request that needs them, and has no such message.
      if (openClient?.era !== "legacy") return;
      // A connection that is being lost asks anew when it is back.
      await openClient.notify("notifications/roots/list_changed").catch(() => undefined);
    });
    await Promise.all(told);
  }

  #elicitation(): JsonObject | undefined {
    if (!this.#hasForms) return undefined;
    return this.#hasUrls ? { form: {}, url: {} } : { form: {} };
  }
}

/** A wrong list fails whoever gave it, not the server that asks for it later. */
function checkedRoots(roots: Roots, cwd: string): Roots {
  if (typeof roots === "function") return roots;
  describeRoots(roots, cwd);
  return [...roots];
}
