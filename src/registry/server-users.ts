import type { ServerConnection } from "../connection/server-connection.ts";
import { createError } from "../errors/families.ts";
import type { ServerState } from "../events/host-event.ts";
import type { ConsentMode } from "../policy/decide-consent.ts";

export interface ClaimOptions {
  readonly owner: string;
  /** Lets every agent use the owner's connection. */
  readonly isShared: boolean;
}

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

/** What an owner has of a connection, until it lets go. */
interface OwnersPart {
  readonly connection: ServerConnection;
  /** Those that were not dropped. */
  claims: number;
}

/**
 * Who sees a server, and over which connection each of them uses it. As configured it is everybody's,
 * over one connection. Once an agent claims it for itself, it exists for those alone who claimed it,
 * each over a connection of its own, unless one of them shares.
 */
export class ServerUsers {
  readonly #everybodys: ServerConnection;
  readonly #create: (owner: string) => ServerConnection;
  readonly #own = new Map<string, OwnersPart>();
  /** Those who asked for the shared connection and have not let go of it. The first shares it, and may end it. */
  readonly #holders = new Map<string, OwnersPart>();
  readonly #loans = new Map<ServerConnection, Loan>();
  /** How often each agent's person is asked; the host's own choice is under `undefined`. */
  readonly #modes = new Map<string | undefined, ConsentMode>();
  readonly #endings = new Map<string | undefined, number>();

  constructor(everybodys: ServerConnection, create: (owner: string) => ServerConnection) {
    this.#everybodys = everybodys;
    this.#create = create;
  }

  get connections(): readonly ServerConnection[] {
    return [this.#everybodys, ...[...this.#own.values()].map(({ connection }) => connection)];
  }

  /** Values that the server was given over any of them, and that nobody else may see. */
  get secrets(): readonly string[] {
    return [...new Set(this.connections.flatMap(({ secrets }) => secrets))];
  }

  /** The connection that a status of the server tells about: the furthest along, among equals the first. */
  get foremost(): ServerConnection {
    return this.connections.reduce((best, one) => (tells(one) > tells(best) ? one : best));
  }

  /** Whether anybody has claimed a connection, waits for one or has one open. A failed one that is retried is not used. */
  get isInUse(): boolean {
    if (this.#own.size > 0 || this.#holders.size > 0) return true;
    return this.connections.some(({ state }) => state === "connected" || state === "connecting");
  }

  isVisibleTo(agent: string): boolean {
    return this.connectionOf(agent) !== undefined;
  }

  connectionOf(agent: string): ServerConnection | undefined {
    const own = this.#own.get(agent);
    if (own !== undefined) return own.connection;
    const isPrivate = this.#own.size > 0 && this.#holders.size === 0;
    return isPrivate ? undefined : this.#everybodys;
  }

  /** The connection that was claimed for `owner`, and whether others use it as well. */
  claimedBy(
    owner: string,
  ): { readonly connection: ServerConnection; readonly isShared: boolean } | undefined {
    const own = this.#own.get(owner);
    if (own !== undefined) return { connection: own.connection, isShared: false };
    return this.#holders.has(owner) ? { connection: this.#everybodys, isShared: true } : undefined;
  }

  /** As the events of the connection that the agent uses name it: null for everybody's. */
  ownerFor(agent: string): string | null {
    return this.#own.has(agent) ? agent : null;
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
  claim({ owner, isShared }: ClaimOptions): Claim {
    const parts = isShared ? this.#holders : this.#own;
    const connection = isShared ? this.#everybodys : this.#ownOf(owner);
    const part = parts.get(owner) ?? { connection, claims: 0 };
    parts.set(owner, part);
    part.claims += 1;
    return {
      connection: this.#kept(connection),
      drop: async () => {
        part.claims -= 1;
        if (part.claims > 0 || parts.get(owner) !== part) return;
        parts.delete(owner);
        if (!isShared) await connection.end();
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
    const own = this.#own.get(owner);
    if (own !== undefined) {
      this.#own.delete(owner);
      return own.connection.end();
    }
    const [sharer] = this.#holders.keys();
    if (sharer === undefined) return this.#everybodys.close();
    if (!this.#holders.delete(owner))
      throw createError("denied", `"${serverName}" is shared by ${sharer}, who alone may end it`, {
        serverName,
        details: { owner: sharer },
      });
    if (owner !== sharer) return Promise.resolve();
    this.#holders.clear();
    return this.#everybodys.close();
  }

  /** Nobody needs the server any longer: every connection ends, and it is everybody's again. */
  async releaseAll(): Promise<void> {
    const own = [...this.#own.values()];
    this.#own.clear();
    this.#holders.clear();
    await Promise.all([this.#everybodys.close(), ...own.map(({ connection }) => connection.end())]);
  }

  #ownOf(owner: string): ServerConnection {
    return this.#own.get(owner)?.connection ?? this.#create(owner);
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
