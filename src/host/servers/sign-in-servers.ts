import type { LaunchApproval } from "../../approval/launch-approval.ts";
import type { PresentPage, SignInPage } from "../../auth/browser/browser-sign-in.ts";
import type { SignInExamination } from "../../auth/examine-sign-in.ts";
import type { ServerSignIn, SignInStatus } from "../../auth/server-sign-in.ts";
import { isUnattended } from "../../auth/sign-in-settings.ts";
import type { SignIns } from "../../auth/sign-ins.ts";
import { resolveServer } from "../../config/parse/expand-variables.ts";
import { inputIds } from "../../config/variables/reference-uses.ts";
import { errorTable } from "../../errors/error-codes.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { EventBus } from "../../events/event-bus.ts";
import type { SignInEvent } from "../../events/host-event.ts";
import type { Human } from "../../human/human.ts";
import type { Clock } from "../../ports/clock.ts";
import type { RegisteredServer, ServerRegistry } from "../../registry/server-registry.ts";
import { ownCommand } from "../../text/own-command.ts";
import type { LoginOptions, LogoutResult } from "../host.ts";
import type { ServerConnector } from "./connect-servers.ts";
import type { EntryReferences } from "./entry-references.ts";

const defaultTimeoutMs = 300_000;

export interface ServerLoginsOptions {
  readonly registry: ServerRegistry;
  readonly connector: ServerConnector;
  readonly launchApproval: LaunchApproval<RegisteredServer>;
  readonly references: EntryReferences;
  readonly loadSignIns: () => Promise<SignIns>;
  readonly human: Human | undefined;
  readonly events: EventBus;
  readonly clock: Clock;
  /** Aborted when the host closes. */
  readonly closing: AbortSignal;
}

/** Signs people in to servers and out again, because they said so. */
export class ServerLogins {
  readonly #options: ServerLoginsOptions;
  /** A second one for the same server waits for the first: nobody gets two pages. */
  readonly #running = new Map<string, Promise<SignInStatus | undefined>>();

  constructor(options: ServerLoginsOptions) {
    this.#options = options;
  }

  /** Who is signed in; undefined when nobody is. */
  async status(name: string): Promise<SignInStatus | undefined> {
    const signIn = await this.#find(name);
    return await signIn?.status();
  }

  /**
   * The same for a list: undefined also where the entry may not be used, or cannot be read without a person, and where
   * the vault cannot be opened. Whoever needs the server is told why.
   */
  async glance(server: RegisteredServer): Promise<SignInStatus | undefined> {
    const { config } = server;
    const isReadable = "url" in config.transport && inputIds(config).size === 0;
    if (!isReadable || this.#options.registry.obstacle(server) !== undefined) return undefined;
    return await this.status(config.name).catch(() => undefined);
  }

  /** Whether there are tokens that the server may accept. Asks no server. */
  async isSignedIn(name: string): Promise<boolean> {
    const signIn = await this.#find(name);
    return (await signIn?.isSignedIn()) ?? false;
  }

  /** Looks at all that a sign-in needs; signs nobody in. Undefined where there is none to be had. */
  async examine(name: string, signal: AbortSignal): Promise<SignInExamination | undefined> {
    const { registry, references, loadSignIns } = this.#options;
    const { config } = registry.get(name);
    if (!("url" in config.transport)) return undefined;
    const { environment, fill } = references.of(config);
    await fill?.();
    const signIns = await loadSignIns();
    return await signIns.examine(name, resolveServer(config, environment), signal);
  }

  login(name: string, options: LoginOptions): Promise<SignInStatus | undefined> {
    const running = this.#running.get(name);
    if (running !== undefined) return running;
    const login = this.#login(name, options).finally(() => this.#running.delete(name));
    this.#running.set(name, login);
    return login;
  }

  async logout(name: string): Promise<LogoutResult> {
    const { registry } = this.#options;
    const signIn = await this.#find(name);
    const before = await signIn?.status();
    if (signIn === undefined || before === undefined) return { wasSignedIn: false };
    const result = await signIn.logout();
    await registry.get(name).connections.close();
    this.#tell(name, "signed-out", before);
    return result;
  }

  async #login(name: string, options: LoginOptions): Promise<SignInStatus | undefined> {
    const { registry, launchApproval } = this.#options;
    const { signal } = options;
    if (registry.obstacle(registry.get(name))?.code === "not_approved")
      await launchApproval.request(name, { signal });
    const server = registry.get(name);
    const obstacle = registry.obstacle(server);
    if (obstacle !== undefined) throw obstacle;
    const signIn = await this.#find(name);
    if (signIn === undefined) throw nothingToSignInTo(server);
    if (options.token !== undefined) await signIn.loginWith(options.token);
    else if (options.rotate === true) await signIn.rotate();
    else if (await this.#isContent(server, signIn, options)) return await signIn.status();
    else if (isUnattended(signIn.settings.oauth)) await signIn.loginUnattended();
    else await this.#ask(signIn, options);
    // What waited for the sign-in begins anew with it.
    const waiting = server.connections.all.filter(({ state }) => state !== "connected");
    await Promise.all(waiting.map((connection) => connection.close()));
    const status = await signIn.status();
    if (status !== undefined) this.#tell(name, "signed-in", status);
    return status;
  }

  /**
   * Whether the server lets us in as it is, so that nobody has to be asked. Otherwise it has said what it wants, which
   * a sign-in begins with.
   */
  async #isContent(
    { config }: RegisteredServer,
    signIn: ServerSignIn,
    { force = false, signal, scopes }: LoginOptions,
  ): Promise<boolean> {
    if (signIn.isRefused) return false;
    try {
      await this.#options.connector.connect(config.name, { signal });
    } catch (error) {
      if (McpError.is(error) && errorTable[error.code].family === "auth") return false;
      throw error;
    }
    const isWanted = force || (scopes !== undefined && scopes.length > 0);
    return !isWanted && (config.auth.type === "none" || (await signIn.isSignedIn()));
  }

  async #ask(signIn: ServerSignIn, options: LoginOptions): Promise<void> {
    const { human, closing } = this.#options;
    const { present = presentTo(human), timeoutMs = defaultTimeoutMs, scopes } = options;
    const signal =
      options.signal === undefined ? closing : AbortSignal.any([closing, options.signal]);
    await signIn.login({ present, timeoutMs, signal, scopes });
  }

  async #find(name: string): Promise<ServerSignIn | undefined> {
    const { registry, references, loadSignIns } = this.#options;
    const { config } = registry.get(name);
    if (!("url" in config.transport)) return undefined;
    const { environment, fill } = references.of(config);
    await fill?.();
    const signIns = await loadSignIns();
    return signIns.of(name, resolveServer(config, environment));
  }

  #tell(serverName: string, type: SignInEvent["type"], { issuer }: SignInStatus): void {
    const { events, clock } = this.#options;
    events.emit({ type, serverName, issuer, at: clock.now() });
  }
}

function nothingToSignInTo({ config }: RegisteredServer): McpError {
  const isRemote = "url" in config.transport;
  const message = isRemote
    ? "its entry already says by which token or header it is called"
    : "it runs on this machine, and is not signed in to";
  return createError("config_invalid", message, {
    serverName: config.name,
    hint: isRemote
      ? `to sign in instead, take that out of the entry: ${ownCommand("edit", config.name)}`
      : undefined,
  });
}

/** Shows the page through the host's human: whose page it is comes first, and nothing is opened without a yes. */
function presentTo(human: Human | undefined): PresentPage {
  return async (page, { signal }) => {
    const { serverName, url, host } = page;
    if (human?.openUrl === undefined) throw nobodyThere(page);
    const message = `Sign in to ${serverName} at ${host}.`;
    const question = { kind: "url", serverName, message, url, host } as const;
    const answer = await human.elicit?.(question, { signal });
    if (answer !== undefined && answer.action !== "accept")
      throw createError("auth_denied", "nobody wanted to sign in", { serverName });
    await human.openUrl(url, { signal });
    if (page.isAwaited) return undefined;
    return await human.input?.(
      {
        serverName,
        origin: page.redirectUri,
        id: "address",
        description: "The address at which your browser ended",
        isSecret: true,
        options: [],
      },
      { signal },
    );
  };
}

function nobodyThere({ serverName }: SignInPage): McpError {
  return createError("auth_required", "there is nobody here who could open the page", {
    serverName,
    hint: `sign in on the command line: ${ownCommand("login", serverName)}`,
  });
}
