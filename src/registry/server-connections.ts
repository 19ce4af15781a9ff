import type { ServerConnection } from "../connection/server-connection.ts";
import { createError } from "../errors/families.ts";
import type { ServerState } from "../events/host-event.ts";
import type { ClaimOptions, ServerVisibility } from "./server-visibility.ts";

/** A wish of an owner for a connection, which it has or waits for. */
export interface Claim {
  /** Not opened yet. */
  readonly connection: ServerConnection;
  /** Takes the claim back, once, when it came to nothing. The owner keeps its other claims. */
  readonly drop: () => Promise<void>;
}

/** The states of a connection that somebody has asked for. */
const wantedStates: ReadonlySet<ServerState> = new Set(["connected", "connecting", "reconnecting"]);

/** Rank of a state: when connections differ, the highest rank is shown. States without one rank lowest. */
const stateRanks: Partial<Record<ServerState, number>> = {
  connected: 4,
  connecting: 3,
  reconnecting: 3,
  needs_auth: 2,
  disconnected: 1,
  error: 1,
};

/** The borrowers of a connection, which use it for a while, such as the sections of prompts. */
interface Loan {
  readonly borrowers: Set<object>;
  /** Whether it is open for the borrowers alone, so that the last of them closes it. */
  isTheirs: boolean;
}

export interface ServerConnectionsParts {
  readonly visibility: ServerVisibility;
  readonly everybodys: ServerConnection;
  readonly create: (owner: string) => ServerConnection;
}

/**
 * The connections of one definition of a server. Owners use one of their own each, everybody else who sees
 * the server uses the same one.
 */
export class ServerConnections {
  readonly #visibility: ServerVisibility;
  readonly #everybodys: ServerConnection;
  readonly #create: (owner: string) => ServerConnection;
  /** Made when they are first asked for: an owner may be one since before the entry changed. */
  readonly #own = new Map<string, ServerConnection>();
  readonly #loans = new Map<ServerConnection, Loan>();
  #isEnded = false;

  constructor({ visibility, everybodys, create }: ServerConnectionsParts) {
    this.#visibility = visibility;
    this.#everybodys = everybodys;
    this.#create = create;
  }

  get all(): readonly ServerConnection[] {
    return [this.#everybodys, ...this.#own.values()];
  }

  /** The values that the server was given over any connection, and that nobody else may see. */
  get secrets(): readonly string[] {
    return [...new Set(this.all.flatMap(({ secrets }) => secrets))];
  }

  /** The connection that a status of the server shows: the one furthest along, among equals the first. */
  get mostAdvanced(): ServerConnection {
    let best = this.#everybodys;
    for (const one of this.#own.values()) if (stateRank(one) > stateRank(best)) best = one;
    return best;
  }

  /** Whether anybody has claimed the server, waits for a connection or has one open. A failed one that is retried is not used. */
  get isInUse(): boolean {
    if (this.#visibility.isClaimed) return true;
    return this.all.some(({ state }) => state === "connected" || state === "connecting");
  }

  /** Whether any connection is open. */
  get isOpen(): boolean {
    return this.all.some(({ openClient }) => openClient !== undefined);
  }

  /** Undefined for an agent that does not see the server. */
  connectionOf(agent: string): ServerConnection | undefined {
    if (this.#visibility.isOwner(agent)) return this.#ownOf(agent);
    return this.#visibility.isVisibleTo(agent) ? this.#everybodys : undefined;
  }

  /** The connection that was claimed for `owner`, and whether others use it as well. */
  claimedBy(
    owner: string,
  ): { readonly connection: ServerConnection; readonly isShared: boolean } | undefined {
    if (this.#visibility.isOwner(owner)) return { connection: this.#ownOf(owner), isShared: false };
    return this.#visibility.isSharer(owner)
      ? { connection: this.#everybodys, isShared: true }
      : undefined;
  }

  /** Counts until the owner lets go of the connection, or the claim is dropped. */
  claim(options: ClaimOptions): Claim {
    const { owner, isShared } = options;
    const drop = this.#visibility.claim(options);
    return {
      connection: this.#kept(isShared ? this.#everybodys : this.#ownOf(owner)),
      drop: async () => {
        if (drop() && !isShared) await this.#endOwn(owner);
      },
    };
  }

  /** Everybody's connection, not opened yet, for somebody who wants it whoever borrows it. */
  keep(): ServerConnection {
    return this.#kept(this.#everybodys);
  }

  /**
   * The connection that `agent` uses, not opened yet, counted as used by `borrower` until it is given back.
   * Undefined for an agent that does not see the server.
   */
  borrow(agent: string, borrower: object): ServerConnection | undefined {
    const connection = this.connectionOf(agent);
    if (connection === undefined) return undefined;
    const loan = this.#loans.get(connection) ?? { borrowers: new Set(), isTheirs: false };
    this.#loans.set(connection, loan);
    loan.borrowers.add(borrower);
    if (!wantedStates.has(connection.state)) loan.isTheirs = true;
    return connection;
  }

  /**
   * Idempotent. What was open before the first borrower came stays open after the last, and so does what
   * somebody uses at this moment: it was opened for borrowers, but it is not theirs to end.
   */
  async giveBack(borrower: object): Promise<void> {
    const unused = [...this.#loans].filter(
      ([, { borrowers }]) => borrowers.delete(borrower) && borrowers.size === 0,
    );
    for (const [connection] of unused) this.#loans.delete(connection);
    const closing = unused.filter(
      ([{ openClient }, { isTheirs }]) => isTheirs && openClient?.isIdle !== false,
    );
    await Promise.all(closing.map(([connection]) => connection.close()));
  }

  /**
   * `owner` needs the server no longer. Its own connection ends; the shared one ends with who shares it.
   * Who has no part in it cannot end it: that is thrown at once, and nothing has changed then.
   */
  release(owner: string, serverName: string): Promise<void> {
    if (this.#visibility.isOwner(owner)) {
      this.#visibility.releaseOwn(owner);
      return this.#endOwn(owner);
    }
    const { sharer } = this.#visibility;
    if (sharer === undefined) return this.#everybodys.close();
    if (!this.#visibility.releaseShared(owner))
      throw createError("denied", `"${serverName}" is shared by ${sharer}, who alone may end it`, {
        serverName,
        details: { owner: sharer },
      });
    return owner === sharer ? this.#everybodys.close() : Promise.resolve();
  }

  /** Nobody needs the server any longer: every connection ends, and it is everybody's again. */
  async releaseAll(): Promise<void> {
    const own = [...this.#own.values()];
    this.#own.clear();
    this.#visibility.releaseAll();
    await Promise.all([this.#everybodys.close(), ...own.map((connection) => connection.end())]);
  }

  /** Closes every connection; the next use opens it again. Who sees the server stays the same. */
  async close(): Promise<void> {
    await Promise.all(this.all.map((connection) => connection.close()));
  }

  /** Every connection ends for good, and none is made any more. The caller waits for each. */
  end(): readonly Promise<void>[] {
    this.#isEnded = true;
    return this.all.map((connection) => connection.end());
  }

  #ownOf(owner: string): ServerConnection {
    const known = this.#own.get(owner);
    if (known !== undefined) return known;
    // Of a definition that is gone nothing may start: this one has ended, and says so.
    if (this.#isEnded) return this.#everybodys;
    const created = this.#create(owner);
    this.#own.set(owner, created);
    return created;
  }

  async #endOwn(owner: string): Promise<void> {
    const own = this.#own.get(owner);
    this.#own.delete(owner);
    await own?.end();
  }

  #kept(connection: ServerConnection): ServerConnection {
    const loan = this.#loans.get(connection);
    if (loan !== undefined) loan.isTheirs = false;
    return connection;
  }
}

function stateRank({ state }: ServerConnection): number {
  return stateRanks[state] ?? 0;
}
