import type { ServerConnection } from "../connection/server-connection.ts";
import { createError } from "../errors/families.ts";
import type { ServerState } from "../events/host-event.ts";
import type { ConsentMode } from "../policy/decide-consent.ts";
import type { ClaimOptions, ServerVisibility } from "./server-visibility.ts";

/** Somebody wants a connection for an owner, and has it or waits for it. */
export interface Claim {
  /** Not opened yet. */
  readonly connection: ServerConnection;
  /** Once, when it came to nothing: it is as if it had never been. What the owner has by other claims stays. */
  readonly drop: () => Promise<void>;
}

/** Somebody has asked for a connection that is in one of these states. */
const wantedStates: ReadonlySet<ServerState> = new Set(["connected", "connecting", "reconnecting"]);

/** The further along, the more; states not named here tell nothing. */
const telling: Partial<Record<ServerState, number>> = {
  connected: 4,
  connecting: 3,
  reconnecting: 3,
  needs_auth: 2,
  disconnected: 1,
  error: 1,
};

/** Those who use a connection for a while, such as the sections of prompts. */
interface Loan {
  readonly borrowers: Set<object>;
  /** It is open for their sake alone, so the last of them closes it. */
  isTheirs: boolean;
}

export interface ServerUsersParts {
  readonly visibility: ServerVisibility;
  readonly everybodys: ServerConnection;
  readonly create: (owner: string) => ServerConnection;
}

/**
 * The connections of one definition of a server. Owners use one of their own each, everybody else who sees
 * the server uses the same one.
 */
export class ServerUsers {
  readonly #visibility: ServerVisibility;
  readonly #everybodys: ServerConnection;
  readonly #create: (owner: string) => ServerConnection;
  /** Made when they are first asked for: an owner may be one since before the entry changed. */
  readonly #own = new Map<string, ServerConnection>();
  readonly #loans = new Map<ServerConnection, Loan>();
  /** How often each agent's person is asked; the host's own choice is under `undefined`. */
  readonly #modes = new Map<string | undefined, ConsentMode>();
  readonly #endings = new Map<string | undefined, number>();
  #isEnded = false;

  constructor({ visibility, everybodys, create }: ServerUsersParts) {
    this.#visibility = visibility;
    this.#everybodys = everybodys;
    this.#create = create;
  }

  get connections(): readonly ServerConnection[] {
    return [this.#everybodys, ...this.#own.values()];
  }

  /** Values that the server was given over any of them, and that nobody else may see. */
  get secrets(): readonly string[] {
    return [...new Set(this.connections.flatMap(({ secrets }) => secrets))];
  }

  /** The connection that a status of the server tells about: the furthest along, among equals the first. */
  get foremost(): ServerConnection {
    return this.connections.reduce((best, one) => (tells(one) > tells(best) ? one : best));
  }

  /** Whether anybody has claimed the server, waits for a connection or has one open. A failed one that is retried is not used. */
  get isInUse(): boolean {
    if (this.#visibility.isClaimed) return true;
    return this.connections.some(({ state }) => state === "connected" || state === "connecting");
  }

  /** Whether any connection is open. */
  get isOpen(): boolean {
    return this.connections.some(({ openClient }) => openClient !== undefined);
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

  consentMode(agent: string): ConsentMode {
    return this.#modes.get(agent) ?? this.#modes.get(undefined) ?? "ask-per-server";
  }

  /** Without an agent it is the mode of everybody who has none of their own: consent is never shared. */
  setConsentMode(mode: ConsentMode, agent?: string): void {
    this.#modes.set(agent, mode);
  }

  /** Changes when consent given before no longer counts for this agent. */
  consentEpoch(agent: string): number {
    return (this.#endings.get(undefined) ?? 0) + (this.#endings.get(agent) ?? 0);
  }

  /** Somebody disconnected the server: whoever connects it again is asked again. */
  endConsent(agent?: string): void {
    this.#endings.set(agent, (this.#endings.get(agent) ?? 0) + 1);
    if (agent === undefined) this.#modes.clear();
    else this.#modes.delete(agent);
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
    await Promise.all(this.connections.map((connection) => connection.close()));
  }

  /** Every connection ends for good, and none is made any more. The caller waits for each. */
  end(): readonly Promise<void>[] {
    this.#isEnded = true;
    return this.connections.map((connection) => connection.end());
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

/** How much there is to say of a connection. */
function tells({ state }: ServerConnection): number {
  return telling[state] ?? 0;
}
