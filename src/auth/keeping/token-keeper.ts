import type { AuthorizationServerMetadata, OAuthTokens } from "@modelcontextprotocol/client";

import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { SecretVault } from "../../secrets/secret-vault.ts";
import type { HostStore } from "../../store/host-store.ts";
import { isJsonObject } from "../../text/json-object.ts";
import { ownCommand } from "../../text/own-command.ts";
import { secretForms } from "../../text/secrets/secret-forms.ts";
import { pastedRefused, signInNeeded } from "../auth-error.ts";
import { chooseScopes } from "../browser/browser-sign-in.ts";
import { type AuthChallenge, scopesIn } from "../oauth/challenge.ts";
import { discoverIssuer, hostOf, isSameIssuer, type TokenIssuer } from "../oauth/discover.ts";
import { createDpopKey, type DpopKey, openDpopKey } from "../oauth/dpop.ts";
import { configuredClient, type OAuthClients } from "../oauth/oauth-client.ts";
import { OAuthHttp } from "../oauth/oauth-http.ts";
import {
  authMethodOf,
  requestEnterpriseAssertion,
  requestTokens,
} from "../oauth/token-requests.ts";
import {
  isFresh,
  readSignIn,
  type SignedInClient,
  type SignInRecord,
  writeSignIn,
} from "../sign-in-record.ts";
import {
  isUnattended,
  signInName,
  type SignInSettings,
  type SignInTools,
} from "../sign-in-settings.ts";
import { underLease } from "./lease.ts";

export interface TokenKeeperOptions {
  readonly settings: SignInSettings;
  readonly tools: SignInTools;
  readonly vault: SecretVault;
  /** Where processes that share the vault agree on who renews a token. */
  readonly store: HostStore;
  readonly clients: OAuthClients;
  /** Aborted when the host closes. */
  readonly closing: AbortSignal;
}

/** What was granted, and to whom. */
export interface GrantedTokens {
  readonly tokens: OAuthTokens;
  readonly issuer: Pick<TokenIssuer, "issuer" | "metadata" | "resource">;
  readonly client: SignedInClient;
  readonly scopes: readonly string[];
}

/**
 * Keeps the tokens of one sign-in: in memory for the next request, in the vault for every other process and the next
 * start. A token is renewed once for everybody, however many calls and processes need it at the same moment.
 */
export class TokenKeeper {
  readonly #options: TokenKeeperOptions;
  readonly #name: string;
  #record: SignInRecord | undefined;
  /** The token that this process itself was given last. */
  #ownToken: string | undefined;
  #dpop: DpopKey | undefined;
  #renewing: Promise<SignInRecord> | undefined;
  /** Arrays of secrets that somebody masks, with how many of their values are not ours. */
  readonly #followers = new Map<string[], number>();
  /** The tokens that were sent last, in the forms in which they may come back. */
  #sent: readonly string[] = [];

  constructor(options: TokenKeeperOptions) {
    this.#options = options;
    this.#name = signInName(options.settings);
  }

  /** The tokens as this process last saw them. */
  get record(): SignInRecord | undefined {
    return this.#record;
  }

  /** Whether this process got the token from the issuer itself, so that nobody can have used it before. */
  isOwn(accessToken: string): boolean {
    return accessToken === this.#ownToken;
  }

  /** The key that the tokens are bound to, where they are. */
  get dpop(): DpopKey | undefined {
    return this.#dpop;
  }

  /** Whether a new token can be had without a person. */
  get canRenew(): boolean {
    return this.#isUnattended || this.#record?.refreshToken !== undefined;
  }

  get #isUnattended(): boolean {
    return isUnattended(this.#options.settings.oauth);
  }

  /** Reads what the vault has now; another process may have signed in or renewed the token. */
  async load(): Promise<SignInRecord | undefined> {
    return await this.#adopt(await readSignIn(this.#options.vault, this.#name));
  }

  /** Keeps what was granted: in the vault first, so that a token in use is never lost. */
  async keep(granted: GrantedTokens, before: SignInRecord | undefined): Promise<SignInRecord> {
    const record = this.#recordOf(granted, before);
    await writeSignIn(this.#options.vault, this.#name, record);
    this.#ownToken = record.accessToken;
    await this.#adopt(record);
    return record;
  }

  /** Keeps a token that a person has given. Nobody can renew it. */
  async keepPasted(accessToken: string): Promise<SignInRecord> {
    const { settings, tools } = this.#options;
    const now = tools.clock.now();
    const record: SignInRecord = {
      issuer: settings.url.origin,
      resource: undefined,
      client: { id: "", secret: undefined, authMethod: undefined },
      tokenEndpoint: undefined,
      revocationEndpoint: undefined,
      grant: "pasted",
      accessToken,
      tokenType: "bearer",
      refreshToken: undefined,
      expiresAt: undefined,
      issuedAt: now,
      signedInAt: now,
      requestedScopes: [],
      scopes: [],
      account: undefined,
      dpopKey: undefined,
    };
    await writeSignIn(this.#options.vault, this.#name, record);
    await this.#adopt(record);
    return record;
  }

  /** Forgets the sign-in; returns whether there was one. */
  async forget(): Promise<boolean> {
    await this.#adopt(undefined);
    return await this.#options.vault.remove(this.#name);
  }

  /** The key for tokens that are asked for now, a new one where there is none; undefined where none is wanted. */
  async dpopForRequest(): Promise<DpopKey | undefined> {
    if (this.#options.settings.oauth.dpop !== true) return undefined;
    return (this.#dpop ??= await createDpopKey());
  }

  /**
   * Gets a token other than `unwanted`, which the server refused or which is about to end. All who ask meanwhile get
   * the same one. Throws `auth_required` when only a person can help.
   */
  async renew(unwanted: string | undefined, challenge?: AuthChallenge): Promise<SignInRecord> {
    const running = await this.#renewing;
    // One that began before may end with the very token that has been refused since.
    if (running !== undefined && running.accessToken !== unwanted) return running;
    this.#renewing ??= this.#renewInTurn(unwanted, challenge).finally(() => {
      this.#renewing = undefined;
    });
    return await this.#renewing;
  }

  /** Runs `task` while no other process changes the tokens. */
  async exclusively<T>(task: () => Promise<T>): Promise<T> {
    const { store, tools, closing: signal } = this.#options;
    return await underLease(this.#name, task, { store, clock: tools.clock, signal });
  }

  /** Keeps `secrets` filled with the tokens that are sent; see `RequestAuthorization`. */
  follow(secrets: string[]): () => void {
    this.#followers.set(secrets, secrets.length);
    secrets.push(...this.#sent);
    return () => this.#followers.delete(secrets);
  }

  async #renewInTurn(unwanted: string | undefined, challenge: AuthChallenge | undefined) {
    const { store, tools, closing: signal } = this.#options;
    const { clock } = tools;
    return await underLease(
      this.#name,
      async (lease) => {
        const kept = await this.load();
        if (kept !== undefined && kept.accessToken !== unwanted && isFresh(kept, clock.now()))
          return kept;
        const http = this.#http();
        try {
          const granted = this.#isUnattended
            ? await this.#requestUnattended(kept, challenge, http)
            : await this.#refresh(kept, challenge, http);
          if (await lease.isHeld()) return await this.keep(granted, kept);
          return (await this.#replacementOf(kept)) ?? (await this.keep(granted, kept));
        } catch (error) {
          const replacement = await this.#replacementOf(kept);
          if (replacement !== undefined) return replacement;
          throw kept === undefined ? error : await this.#endedBy(error, kept);
        }
      },
      { store, clock, signal },
    );
  }

  /**
   * What another process has got meanwhile: one that stood still for long has lost its turn, and must neither take its
   * own tokens nor its own refusal for the last word.
   */
  async #replacementOf(kept: SignInRecord | undefined): Promise<SignInRecord | undefined> {
    const present = await this.load();
    if (present?.accessToken !== undefined && present.accessToken !== kept?.accessToken)
      return present;
    if (present !== undefined || kept === undefined) return undefined;
    throw signInNeeded(this.#options.settings.serverName, "signed out meanwhile");
  }

  /** The error to renew a token with. After a refusal that is final nobody tries it again: a person has to sign in. */
  async #endedBy(error: unknown, kept: SignInRecord): Promise<unknown> {
    if (!McpError.is(error) || kept.refreshToken === undefined || this.#isUnattended) return error;
    const { settings, clients, vault } = this.#options;
    const { oauthError } = error.details;
    const isClientGone = error.code === "auth_client_rejected";
    if (isClientGone && configuredClient(settings) !== undefined) return error;
    if (isClientGone) await clients.forget(kept);
    else if (oauthError !== "invalid_grant") return error;
    const ended = { ...kept, refreshToken: undefined };
    await writeSignIn(vault, this.#name, ended);
    await this.#adopt(ended);
    const reason = `${hostOf(kept.issuer)} has ended the sign-in`;
    return signInNeeded(settings.serverName, reason, { oauthError });
  }

  #http(): OAuthHttp {
    const { settings, tools, closing } = this.#options;
    return new OAuthHttp(settings, tools, closing);
  }

  async #refresh(
    kept: SignInRecord | undefined,
    challenge: AuthChallenge | undefined,
    http: OAuthHttp,
  ): Promise<GrantedTokens> {
    const { settings } = this.#options;
    const { serverName } = settings;
    if (kept?.grant === "pasted") throw pastedRefused(serverName);
    if (kept?.refreshToken === undefined || kept.tokenEndpoint === undefined)
      throw signInNeeded(serverName, kept === undefined ? "HTTP 401" : "the sign-in has ended");
    const issuer = await this.#issuerOf(kept, challenge, http);
    const client = configuredClient(settings) ?? kept.client;
    const tokens = await requestTokens({
      settings,
      issuer,
      client: { ...client, authMethod: client.authMethod ?? kept.client.authMethod },
      resource: kept.resource,
      http,
      dpop: this.#dpop?.session,
      params: { grant_type: "refresh_token", refresh_token: kept.refreshToken },
    });
    return { tokens, issuer, client, scopes: kept.requestedScopes };
  }

  /**
   * The issuer to renew a token at. When the server refused the token, it is asked again who issues them: tokens of one
   * issuer are never shown to another.
   */
  async #issuerOf(
    kept: SignInRecord,
    challenge: AuthChallenge | undefined,
    http: OAuthHttp,
  ): Promise<GrantedTokens["issuer"]> {
    const { settings } = this.#options;
    const known = issuerOfRecord(kept);
    if (challenge === undefined) return known;
    const options = { challenge, preferredIssuer: kept.issuer };
    const found = await discoverIssuer(settings, http, options).catch((error: unknown) => {
      if (McpError.is(error, "auth_endpoint_unreachable")) return undefined;
      throw error;
    });
    if (found === undefined || found.found === "assumed") return known;
    if (!isSameIssuer(found.issuer, kept.issuer))
      throw signInNeeded(
        settings.serverName,
        `the server now has another authorization server: ${hostOf(found.issuer)}`,
        { authorizationServer: hostOf(found.issuer) },
      );
    return { ...found, resource: kept.resource };
  }

  async #requestUnattended(
    kept: SignInRecord | undefined,
    challenge: AuthChallenge | undefined,
    http: OAuthHttp,
  ): Promise<GrantedTokens> {
    const { settings } = this.#options;
    const { oauth, serverName } = settings;
    const client = configuredClient(settings);
    const issuer = await discoverIssuer(settings, http, {
      challenge,
      preferredIssuer: kept?.issuer,
    });
    if (client === undefined)
      throw createError("config_invalid", '"auth.clientId" is missing', { serverName });
    refuseOtherIssuer(settings, issuer, kept);
    const scopes = chooseScopes(settings, issuer, challenge, kept?.requestedScopes ?? []);
    const scope = scopes.length === 0 ? undefined : scopes.join(" ");
    const dpop = await this.dpopForRequest();
    const params =
      oauth.grant === "client_credentials"
        ? { grant_type: "client_credentials" }
        : {
            grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
            assertion:
              oauth.grant === "enterprise"
                ? await requestEnterpriseAssertion(settings, issuer, scope, http)
                : (oauth.assertion ?? ""),
          };
    const tokens = await requestTokens({
      settings,
      issuer,
      client,
      resource: issuer.resource,
      http,
      dpop: dpop?.session,
      params: { ...params, ...(scope === undefined ? {} : { scope }) },
    });
    return { tokens, issuer, client, scopes };
  }

  #recordOf(granted: GrantedTokens, before: SignInRecord | undefined): SignInRecord {
    const { tokens, issuer, client, scopes } = granted;
    const { settings, tools } = this.#options;
    const { grant = "authorization_code" } = settings.oauth;
    const { metadata } = issuer;
    const now = tools.clock.now();
    const { expires_in: lifetime = 0 } = tokens;
    const isConfigured = configuredClient(settings) !== undefined;
    return {
      issuer: issuer.issuer,
      resource: issuer.resource,
      client: {
        id: client.id,
        secret: isConfigured ? undefined : client.secret,
        authMethod: authMethodOf(client, metadata),
      },
      tokenEndpoint: metadata.token_endpoint,
      revocationEndpoint: revocationIn(metadata),
      grant,
      accessToken: tokens.access_token,
      tokenType: /^dpop$/i.test(tokens.token_type) ? "dpop" : "bearer",
      refreshToken: tokens.refresh_token ?? before?.refreshToken,
      // A lifetime of nothing counts as none: the token would be renewed for every request. The server says when it ends.
      expiresAt: lifetime > 0 ? now + lifetime * 1_000 : undefined,
      issuedAt: now,
      signedInAt: before?.signedInAt ?? now,
      requestedScopes: scopes,
      scopes: tokens.scope === undefined ? (before?.scopes ?? scopes) : scopesIn(tokens.scope),
      account: accountIn(tokens.id_token) ?? before?.account,
      dpopKey: this.#dpop?.jwk,
    };
  }

  async #adopt(record: SignInRecord | undefined): Promise<SignInRecord | undefined> {
    if (record?.dpopKey !== undefined && this.#dpop?.jwk["x"] !== record.dpopKey["x"])
      this.#dpop = await openDpopKey(record.dpopKey);
    this.#record = record;
    if (record === undefined) return undefined;
    const forms = [record.accessToken, record.refreshToken ?? ""].flatMap(secretForms);
    // The one before may still be in an answer that is on its way.
    this.#sent = [...new Set([...forms, ...this.#sent])].slice(0, forms.length * 2);
    for (const [secrets, own] of this.#followers)
      secrets.splice(own, secrets.length - own, ...this.#sent);
    return record;
  }
}

/**
 * Throws when a server suddenly names another issuer than the one that its secrets were given to: whoever controls the
 * server could otherwise have them sent anywhere.
 */
export function refuseOtherIssuer(
  { oauth, serverName }: SignInSettings,
  { issuer, found }: TokenIssuer,
  kept: SignInRecord | undefined,
): void {
  const { clientSecret, privateKey, assertion, idToken } = oauth;
  const hasSecret = [clientSecret, privateKey, assertion, idToken].some((it) => it !== undefined);
  if (!hasSecret || found === "configured" || oauth.issuer !== undefined) return;
  if (kept === undefined || kept.grant === "pasted" || isSameIssuer(kept.issuer, issuer)) return;
  throw createError(
    "auth_failed",
    `the server now names ${hostOf(issuer)} for its sign-in, and ${hostOf(kept.issuer)} before; the secrets of its entry were not sent`,
    {
      serverName,
      hint: `if that is right: ${ownCommand("logout", serverName)}, and sign in again`,
    },
  );
}

/** What a record knows of its issuer: enough to renew a token without asking anybody else. */
export function issuerOfRecord(record: SignInRecord): GrantedTokens["issuer"] {
  const { issuer, resource, tokenEndpoint = "", revocationEndpoint } = record;
  return {
    issuer,
    resource,
    metadata: {
      issuer,
      authorization_endpoint: issuer,
      token_endpoint: tokenEndpoint,
      response_types_supported: ["code"],
      ...(revocationEndpoint === undefined ? {} : { revocation_endpoint: revocationEndpoint }),
    },
  };
}

/** Documents of OpenID may name the address, too, and do not promise to. */
function revocationIn(metadata: AuthorizationServerMetadata): string | undefined {
  const { revocation_endpoint: endpoint } = metadata as { readonly revocation_endpoint?: unknown };
  return typeof endpoint === "string" ? endpoint : undefined;
}

/** Who signed in, from the issuer's own words. They came with the token, so nobody else can have written them. */
function accountIn(idToken: string | undefined): string | undefined {
  try {
    const [, payload = ""] = (idToken ?? "").split(".");
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString());
    if (!isJsonObject(claims)) return undefined;
    const { email, preferred_username: username, name, sub } = claims;
    return [email, username, name, sub].find((claim) => typeof claim === "string");
  } catch {
    return undefined;
  }
}
