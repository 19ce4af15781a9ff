import type { SignInStatus } from "../../auth/server-sign-in.ts";
import type { EventBus } from "../../events/event-bus.ts";
import type { RegisteredServer, ServerRegistry } from "../../registry/server-registry.ts";
import type { StoreRequests } from "./configured-servers.ts";
import type { ServerLogins } from "./sign-in-servers.ts";

export interface SignInFollowerOptions {
  readonly registry: ServerRegistry;
  readonly logins: Pick<ServerLogins, "status" | "isSignedIn">;
  readonly events: EventBus;
}

/**
 * Makes the servers of this host follow sign-ins of other processes that share its store. One that waits for a sign-in
 * begins anew with the one that is there now; one that somebody signed out of is disconnected.
 */
export class SignInFollower implements StoreRequests {
  readonly #options: SignInFollowerOptions;
  /** What the sign-in of each server was when it was last looked at; the empty text for none. */
  readonly #seen = new Map<string, string>();

  constructor(options: SignInFollowerOptions) {
    this.#options = options;
  }

  /** From here on it is noted with which sign-in each server was connected or refused. */
  async begin(): Promise<void> {
    const { events, registry } = this.#options;
    events.on("server-state", ({ serverName, state }) => {
      const server = registry.find(serverName);
      if (server !== undefined && (state === "connected" || state === "needs_auth"))
        void this.#note(server);
    });
  }

  async follow(): Promise<void> {
    const { registry } = this.#options;
    await Promise.all(registry.all().map((server) => this.#look(server)));
  }

  async #look(server: RegisteredServer): Promise<void> {
    const { config, connections } = server;
    const { name } = config;
    // What has never been tried reads its tokens when it is; and nobody is asked for anything here.
    const isTried = connections.all.some(
      ({ state }) => state === "needs_auth" || state === "connected",
    );
    if (!isTried) return;
    const before = this.#seen.get(name);
    const now = await this.#note(server);
    if (now === before) return;
    const isSignedOut = now === "" && before !== undefined;
    if (isSignedOut) await connections.close();
    else if (now !== "" && (await this.#options.logins.isSignedIn(name))) await this.#begin(server);
  }

  async #note({ config }: RegisteredServer): Promise<string> {
    if (!("url" in config.transport)) return "";
    // A vault that cannot be opened now is told by whoever needs it.
    const status = await this.#options.logins.status(config.name).catch(() => undefined);
    const now = status === undefined ? "" : nameOf(status);
    this.#seen.set(config.name, now);
    return now;
  }

  /** Ends what waits for a sign-in: the next use connects, and what is to run all the time does at once. */
  async #begin({ config, connections }: RegisteredServer): Promise<void> {
    const waiting = connections.all.filter(({ state }) => state === "needs_auth");
    await Promise.all(waiting.map((connection) => connection.close()));
    if (waiting.length === 0 || config.start !== "eager") return;
    connections
      .keep()
      .client({ isForced: true })
      .catch(() => undefined);
  }
}

/** Tells one sign-in from another; a token that was renewed is another one, too. */
function nameOf({ signedInAt, issuedAt }: SignInStatus): string {
  return `${signedInAt}/${issuedAt}`;
}
