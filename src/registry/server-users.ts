import type { ServerConnection } from "../connection/server-connection.ts";
import { createError } from "../errors/families.ts";

export interface ClaimOptions {
  readonly owner: string;
  /** Lets every agent use the owner's connection. */
  readonly isShared: boolean;
}

/**
 * Who sees a server, and over which connection each of them uses it. As configured it is everybody's,
 * over one connection. Once an agent claims it for itself, it exists for those alone who claimed it,
 * each over a connection of its own, unless one of them shares.
 */
export class ServerUsers {
  readonly #everybodys: ServerConnection;
  readonly #create: () => ServerConnection;
  readonly #own = new Map<string, ServerConnection>();
  /** Who shares the connection, and may therefore end it; nobody as long as nobody claimed it. */
  #sharer: string | undefined;
  /** Those who asked for the shared connection and have not let go of it. */
  readonly #holders = new Set<string>();

  constructor(everybodys: ServerConnection, create: () => ServerConnection) {
    this.#everybodys = everybodys;
    this.#create = create;
  }

  get connections(): readonly ServerConnection[] {
    return [this.#everybodys, ...this.#own.values()];
  }

  isVisibleTo(agent: string): boolean {
    return this.connectionOf(agent) !== undefined;
  }

  connectionOf(agent: string): ServerConnection | undefined {
    const own = this.#own.get(agent);
    if (own !== undefined) return own;
    const isPrivate = this.#own.size > 0 && this.#sharer === undefined;
    return isPrivate ? undefined : this.#everybodys;
  }

  /** The connection for `owner`, not opened yet. */
  claim({ owner, isShared }: ClaimOptions): ServerConnection {
    if (isShared) {
      this.#sharer ??= owner;
      this.#holders.add(owner);
      return this.#everybodys;
    }
    const own = this.#own.get(owner) ?? this.#create();
    this.#own.set(owner, own);
    return own;
  }

  /**
   * `owner` needs the server no longer. Its own connection ends; the shared one ends when its owner,
   * or the last of those who asked for it, lets go. Who has no part in it cannot end it.
   */
  async release(owner: string, serverName: string): Promise<void> {
    const own = this.#own.get(owner);
    if (own !== undefined) {
      this.#own.delete(owner);
      return await own.end();
    }
    if (this.#sharer === undefined) return await this.#everybodys.close();
    const wasHolder = this.#holders.delete(owner);
    if (!wasHolder)
      throw createError(
        "denied",
        `"${serverName}" is shared by ${this.#sharer}, who alone may end it`,
        {
          serverName,
          details: { owner: this.#sharer },
        },
      );
    if (owner !== this.#sharer && this.#holders.size > 0) return;
    this.#sharer = undefined;
    this.#holders.clear();
    await this.#everybodys.close();
  }
}
