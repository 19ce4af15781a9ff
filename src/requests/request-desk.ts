import type { ServerConfig } from "../config/server-config.ts";
import { createError } from "../errors/families.ts";
import type { Human } from "../ports/human.ts";
import type { JsonObject } from "../protocol/json-object.ts";
import type { DeskParts } from "./desk-parts.ts";
import { describeRoots, type Roots } from "./roots.ts";
import { ServerDesk } from "./server-desk.ts";

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

  /** The desk of one server, for the life of its definition. */
  forServer(config: ServerConfig): ServerDesk {
    return new ServerDesk(config, this.#parts, () => ({
      elicitation: this.#elicitation(),
      sampling: this.#parts.sampling,
      roots: this.#roots === undefined ? undefined : () => this.#roots ?? [],
    }));
  }

  /**
   * From now on servers are told these. Telling those that are connected that something changed is the
   * caller's part. Throws `config_invalid` when roots were never offered to any server.
   */
  setRoots(roots: Roots): void {
    if (this.#roots === undefined)
      throw createError("config_invalid", "this host offers no roots to its servers", {
        hint: "give createHost a list of roots; it may be empty",
      });
    this.#roots = checkedRoots(roots, this.#parts.cwd);
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
