import type { ServerConfig } from "../config/keys/server-config.ts";
import { createError } from "../errors/families.ts";
import type { Human } from "../human/human.ts";
import type { ProtocolClient } from "../protocol/protocol-client.ts";
import type { JsonObject } from "../text/json-object.ts";
import { ConnectionQuestions, type QuestionsOptions } from "./connection-questions.ts";
import { describeRoots, type Roots } from "./roots.ts";

/** A connection to a server that may be open. */
interface OpenConnection {
  readonly openClient: Pick<ProtocolClient, "era" | "notify"> | undefined;
}

/**
 * Decides what servers may ask of this host: a person, the program's model, and which folders they may
 * work in. It offers nothing that nobody could answer. A connection keeps what it offered when it
 * opened: a session that begins later changes the offer only for connections opened after that.
 */
export class ServerQuestions {
  readonly #options: QuestionsOptions;
  #roots: Roots | undefined;
  #hasForms = false;
  #hasUrls = false;

  /** Throws `config_invalid` for a root that is no folder. */
  constructor(options: QuestionsOptions) {
    this.#options = options;
    if (options.roots !== undefined) this.#roots = checkedRoots(options.roots, options.cwd);
    this.introduce(options.human);
  }

  /** Adds somebody who answers for a session: connections that open from now on offer what they can do. */
  introduce(human: Human | undefined): void {
    if (human?.elicit === undefined) return;
    this.#hasForms = true;
    this.#hasUrls ||= human.openUrl !== undefined;
  }

  /** Answers what is asked over one connection: an agent's own, or everybody's where `owner` is null. */
  forConnection(config: ServerConfig, owner: string | null): ConnectionQuestions {
    return new ConnectionQuestions({ config, owner }, this.#options, () => ({
      elicitation: this.#elicitation(),
      sampling: this.#options.sampling,
      roots: this.#roots === undefined ? undefined : () => this.#roots ?? [],
    }));
  }

  /**
   * Replaces the roots and notifies the connected servers. Rejects with `config_invalid` when roots
   * were never offered to any server.
   */
  async setRoots(roots: Roots, connections: readonly OpenConnection[]): Promise<void> {
    if (this.#roots === undefined)
      throw createError("config_invalid", "this host offers no roots to its servers", {
        hint: "give createHost a list of roots; it may be empty",
      });
    this.#roots = checkedRoots(roots, this.#options.cwd);
    const told = connections.map(async ({ openClient }) => {
      // A modern server asks for the roots with each request that needs them; the message is legacy.
      if (openClient?.era !== "legacy") return;
      // A server whose connection is being lost asks again when it is back.
      await openClient.notify("notifications/roots/list_changed").catch(() => undefined);
    });
    await Promise.all(told);
  }

  #elicitation(): JsonObject | undefined {
    if (!this.#hasForms) return undefined;
    return this.#hasUrls ? { form: {}, url: {} } : { form: {} };
  }
}

/** Checks a list at once, so that a wrong root fails the program and not the server that asks later. */
function checkedRoots(roots: Roots, cwd: string): Roots {
  if (typeof roots === "function") return roots;
  describeRoots(roots, cwd);
  return [...roots];
}
