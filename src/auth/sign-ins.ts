import type { ResolvedTexts } from "../config/variables/map-templates.ts";
import type { SecretVault } from "../secrets/secret-vault.ts";
import type { HostStore } from "../store/host-store.ts";
import { canonicalHash } from "../text/canonical-hash.ts";
import type { SignInExamination } from "./examine-sign-in.ts";
import { OAuthClients } from "./oauth/oauth-client.ts";
import type { RequestAuthorization } from "./request-authorization.ts";
import { ServerSignIn } from "./server-sign-in.ts";
import { signInSettings, type SignInTools } from "./sign-in-settings.ts";

export interface SignInsOptions {
  readonly vault: SecretVault;
  readonly store: HostStore;
  readonly tools: SignInTools;
  /** Aborted when the host closes. */
  readonly closing: AbortSignal;
}

/** The sign-ins of a host, one for each server that can be signed in to. */
export class SignIns {
  readonly #options: SignInsOptions;
  readonly #clients: OAuthClients;
  readonly #byServer = new Map<string, { readonly entry: string; readonly signIn: ServerSignIn }>();

  constructor(options: SignInsOptions) {
    this.#options = options;
    this.#clients = new OAuthClients(options.vault);
  }

  /** The sign-in of a server, the same one until its entry changes; undefined where there is none to be had. */
  of(serverName: string, resolved: ResolvedTexts): ServerSignIn | undefined {
    const settings = signInSettings(serverName, resolved);
    if (settings === undefined) return undefined;
    const { url, allowPrivateNetwork, oauth } = settings;
    const entry = canonicalHash({ url: url.href, allowPrivateNetwork, oauth });
    const known = this.#byServer.get(serverName);
    if (known?.entry === entry) return known.signIn;
    const signIn = new ServerSignIn({ ...this.#options, settings, clients: this.#clients });
    this.#byServer.set(serverName, { entry, signIn });
    return signIn;
  }

  /** Looks at all that a sign-in to the server needs; undefined where there is none to be had. */
  async examine(
    serverName: string,
    resolved: ResolvedTexts,
    signal: AbortSignal,
  ): Promise<SignInExamination | undefined> {
    const settings = signInSettings(serverName, resolved);
    if (settings === undefined) return undefined;
    const { examineSignIn } = await import("./examine-sign-in.ts");
    return await examineSignIn({ ...this.#options, settings, clients: this.#clients }, signal);
  }

  /** What shows a server who is calling, with the tokens that there are. */
  async authorize(
    serverName: string,
    resolved: ResolvedTexts,
  ): Promise<RequestAuthorization | undefined> {
    const signIn = this.of(serverName, resolved);
    await signIn?.prepare();
    return signIn;
  }
}
