import { createError } from "../errors/families.ts";
import { McpError } from "../errors/mcp-error.ts";
import { ownCommand } from "../text/own-command.ts";
import { shellWord } from "../text/shell-word.ts";
import { sanitizeText, signInNeeded } from "./auth-error.ts";
import { chooseScopes, type PresentPage, signInWithBrowser } from "./browser/browser-sign-in.ts";
import {
  issuerOfRecord,
  refuseOtherIssuer,
  TokenKeeper,
  type TokenKeeperOptions,
} from "./keeping/token-keeper.ts";
import {
  type AuthChallenge,
  parseChallenges,
  scopesIn,
  tokenChallenge,
} from "./oauth/challenge.ts";
import { discoverIssuer, hostOf, type TokenIssuer } from "./oauth/discover.ts";
import { OAuthHttp } from "./oauth/oauth-http.ts";
import { revokeToken } from "./oauth/token-requests.ts";
import type {
  AuthorizedRequest,
  Refusal,
  RefusalVerdict,
  RequestAuthorization,
} from "./request-authorization.ts";
import { isExpired, isFresh, missingScopes, type SignInRecord } from "./sign-in-record.ts";
import { isUnattended, type SignInSettings } from "./sign-in-settings.ts";

/** How a person signs in. */
export interface BrowserLogin {
  readonly present: PresentPage;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Asked for beside what the server demands. */
  readonly scopes?: readonly string[] | undefined;
}

/** A sign-in as a person may see it: no token is in it. */
export interface SignInStatus {
  /** The host that issued the token; where a person gave one themselves, the server's own. */
  readonly issuer: string;
  readonly grant: SignInRecord["grant"];
  /** Who is signed in, as the issuer says; it need not. */
  readonly account: string | undefined;
  readonly scopes: readonly string[];
  /** What was asked for and not granted. */
  readonly missingScopes: readonly string[];
  readonly signedInAt: number;
  readonly issuedAt: number;
  /** When the token ends; undefined where the issuer did not say. */
  readonly expiresAt: number | undefined;
  /** Whether a new token is fetched without a person. */
  readonly canRenew: boolean;
}

/** Sign-ins of a person in a row whose tokens the server never accepted; there is no third one. */
const maxFruitlessTries = 2;
/** A new token that is refused at its first use is renewed; when the next one is, too, the server takes none. */
const maxRefusals = 1;
/** A request is sent again once for a token that was refused at once, and once for a nonce that its proof must have. */
const maxRepeats = 2;
const none: readonly string[] = [];

/**
 * The sign-in of one server: it shows tokens with every request, renews them, and says what to do when the server
 * refuses them. A person is only ever asked by `login`.
 */
export class ServerSignIn implements RequestAuthorization {
  readonly #options: TokenKeeperOptions;
  readonly #keeper: TokenKeeper;
  /** What the server said when it last refused a request; a sign-in begins with it. */
  #challenge: AuthChallenge | undefined;
  /** Whether the server has accepted the present token. */
  #isProven = false;
  /**
   * New tokens in a row that the server refused at their first use, and let nobody in meanwhile. A token that others
   * have used before may simply be at an end, and says nothing of the server.
   */
  #refusals = 0;
  /** The first use of the present token: the token, and the fields that no other request was given. */
  #firstUse: { readonly token: string; readonly fields?: readonly string[] } | undefined;
  /** Whether the present token was fetched for a refused request: then its first use is for one of those. */
  #isForRefused = false;
  #fruitlessTries = 0;
  /** The fields of the present token for every other request, made once. */
  #bearer: { readonly token: string; readonly fields: readonly string[] } | undefined;

  constructor(options: TokenKeeperOptions) {
    this.#options = options;
    this.#keeper = new TokenKeeper(options);
  }

  get settings(): SignInSettings {
    return this.#options.settings;
  }

  /** Reads the tokens that there are, before the first request. */
  async prepare(): Promise<void> {
    await this.#keeper.load();
  }

  fieldsFor(request: AuthorizedRequest): readonly string[] | Promise<readonly string[]> {
    // A server may name another address for its messages; it gets no token for that.
    if (request.url.origin !== this.settings.url.origin) return none;
    const { record } = this.#keeper;
    if (record === undefined)
      return isUnattended(this.settings.oauth) ? this.#renewedFields(request) : none;
    const mustRenew = this.#keeper.canRenew && !isFresh(record, this.#now());
    return mustRenew ? this.#renewedFields(request) : this.#fieldsOf(record, request);
  }

  accepted(fields: readonly string[]): void {
    if (this.#isProven && this.#refusals === 0) return;
    const token = tokenIn(fields);
    if (token === undefined) return;
    // Also with a token that was replaced while the request was under way: the server does let us in.
    this.#refusals = 0;
    if (token !== this.#keeper.record?.accessToken) return;
    this.#isProven = true;
    this.#fruitlessTries = 0;
    this.#challenge = undefined;
  }

  async refused(refusal: Refusal): Promise<RefusalVerdict> {
    try {
      return await this.#judge(refusal);
    } catch (error) {
      if (McpError.is(error)) return error;
      const { serverName } = this.settings;
      return createError("auth_failed", "the sign-in failed unexpectedly", {
        serverName,
        cause: error,
      });
    }
  }

  follow(secrets: string[]): () => void {
    return this.#keeper.follow(secrets);
  }

  /** The sign-in that there is, as the vault has it now. */
  async status(): Promise<SignInStatus | undefined> {
    const record = await this.#keeper.load();
    if (record === undefined) return undefined;
    return {
      issuer: hostOf(record.issuer),
      grant: record.grant,
      account: record.account === undefined ? undefined : sanitizeText(record.account, 100),
      scopes: record.scopes.map((scope) => sanitizeText(scope, 100)),
      missingScopes: missingScopes(record).map((scope) => sanitizeText(scope, 100)),
      signedInAt: record.signedInAt,
      issuedAt: record.issuedAt,
      expiresAt: record.expiresAt,
      canRenew: this.#keeper.canRenew,
    };
  }

  /** Whether the server has refused what it was shown last, so that there is something to sign in for. */
  get isRefused(): boolean {
    return this.#challenge !== undefined;
  }

  /** Whether the tokens are the server's to accept: nothing says that they are at an end. */
  async isSignedIn(): Promise<boolean> {
    const record = await this.#keeper.load();
    if (record === undefined) return false;
    return this.#keeper.canRenew || !isExpired(record, this.#now());
  }

  /** Lets a person sign in with a browser. */
  async login({ present, timeoutMs, signal, scopes = [] }: BrowserLogin): Promise<void> {
    const { settings, tools, clients } = this.#options;
    const { serverName } = settings;
    this.#refuseFruitless();
    const before = await this.#keeper.load();
    const http = new OAuthHttp(settings, tools, signal);
    const issuer = await this.#issuerFor(before, http);
    refuseOtherIssuer(settings, issuer, before);
    const challenge = this.#challenge;
    const chosen = chooseScopes(settings, issuer, challenge, before?.requestedScopes ?? []);
    const dpop = await this.#keeper.dpopForRequest();
    await signInWithBrowser(
      {
        settings,
        tools,
        clients,
        issuer,
        http,
        // Whoever wants more keeps what there is.
        scopes: scopesIn(
          chosen.join(" "),
          ...(scopes.length === 0 ? [] : [before?.requestedScopes.join(" "), scopes.join(" ")]),
        ),
        dpop: dpop?.session,
        present,
        timeoutMs,
        signal,
      },
      async ({ client, tokens, scopes: asked }) => {
        const granted = { tokens, issuer, client, scopes: asked };
        await this.#keeper.exclusively(() => this.#keeper.keep(granted, undefined));
        this.#begin();
        this.#fruitlessTries += 1;
      },
    );
    const { record } = this.#keeper;
    const missing = record === undefined ? [] : missingScopes(record);
    if (missing.length > 0)
      tools.logger.warn("the sign-in grants less than was asked for", {
        serverName,
        missingScopes: missing.map((scope) => sanitizeText(scope, 100)),
      });
    // Only now that the new sign-in works: an old one that is given back too early locks the person out.
    if (before !== undefined) await this.#revoke(before).catch(() => undefined);
  }

  /** Gets a token without a person, where the entry says how. */
  async loginUnattended(): Promise<void> {
    await this.#keeper.renew(this.#keeper.record?.accessToken, this.#challenge);
    this.#begin();
  }

  /** Takes a token that a person has given. */
  async loginWith(token: string): Promise<void> {
    const { serverName } = this.settings;
    const text = token.trim().replace(/^bearer\s+/i, "");
    if (!/^[\u0021-\u007E]{1,65536}$/.test(text))
      throw createError(
        "invalid_arguments",
        "what was given is no token: a header cannot carry it",
        {
          serverName,
        },
      );
    await this.#keeper.exclusively(() => this.#keeper.keepPasted(text));
    this.#begin();
  }

  /** Gets a new token in place of the present one, although that is still good. */
  async rotate(): Promise<void> {
    const record = await this.#keeper.load();
    const { serverName } = this.settings;
    if (record === undefined || !this.#keeper.canRenew)
      throw signInNeeded(serverName, "the token cannot be renewed without you");
    await this.#keeper.renew(record.accessToken);
    this.#begin();
  }

  /** Forgets the tokens, and gives them back to the issuer; says why where it did not take them. */
  async logout(): Promise<{ readonly wasSignedIn: boolean; readonly problem?: McpError }> {
    const record = await this.#keeper.load();
    this.#begin();
    this.#fruitlessTries = 0;
    const wasSignedIn = await this.#keeper.exclusively(() => this.#keeper.forget());
    if (record === undefined) return { wasSignedIn };
    try {
      await this.#revoke(record);
      return { wasSignedIn };
    } catch (error) {
      return McpError.is(error) ? { wasSignedIn, problem: error } : { wasSignedIn };
    }
  }

  #now(): number {
    return this.#options.tools.clock.now();
  }

  /** Forgets how earlier tokens fared. */
  #begin(): void {
    this.#isProven = false;
    this.#isForRefused = false;
    this.#refusals = 0;
  }

  async #renewedFields(request: AuthorizedRequest): Promise<readonly string[]> {
    const { record } = this.#keeper;
    try {
      await this.#keeper.renew(record?.accessToken);
      this.#isProven = false;
    } catch (error) {
      // Until it ends, the token is as good as it was.
      if (record === undefined || isExpired(record, this.#now())) throw error;
    }
    const present = this.#keeper.record;
    return present === undefined ? none : await this.#fieldsOf(present, request);
  }

  #fieldsOf(
    record: SignInRecord,
    request: AuthorizedRequest,
  ): readonly string[] | Promise<readonly string[]> {
    const { accessToken: token, tokenType } = record;
    const isFirst = this.#firstUse?.token !== token && (request.isRepeated || !this.#isForRefused);
    if (isFirst) {
      this.#firstUse = { token };
      this.#isForRefused = false;
    }
    if (tokenType === "dpop") return this.#provenFields(token, request, isFirst);
    if (isFirst) {
      const fields = ["authorization", `Bearer ${token}`];
      this.#firstUse = { token, fields };
      return fields;
    }
    if (this.#bearer?.token !== token)
      this.#bearer = { token, fields: ["authorization", `Bearer ${token}`] };
    return this.#bearer.fields;
  }

  async #provenFields(
    token: string,
    request: AuthorizedRequest,
    isFirst: boolean,
  ): Promise<readonly string[]> {
    const { dpop } = this.#keeper;
    const { method: htm, url: htu } = request;
    const proof = await dpop?.session.buildProof({ htm, htu, accessToken: token });
    const fields = ["authorization", `DPoP ${token}`, "dpop", proof ?? ""];
    if (isFirst) this.#firstUse = { token, fields };
    return fields;
  }

  async #judge(refusal: Refusal): Promise<RefusalVerdict> {
    const { status, fields, dpopNonce, repeats } = refusal;
    const { serverName, url } = this.settings;
    const challenge = tokenChallenge(parseChallenges(refusal.challenge));
    this.#challenge = challenge ?? this.#challenge;
    const sent = tokenIn(fields);
    const isRepeatable = repeats < maxRepeats;
    if (challenge?.error === "use_dpop_nonce" && dpopNonce !== undefined && isRepeatable) {
      this.#keeper.dpop?.session.rememberNonce(url, dpopNonce);
      return "again";
    }
    if (status === 403 && challenge?.error === "insufficient_scope")
      return this.#scopeNeeded(challenge);
    if (status === 403 && sent !== undefined)
      return createError("auth_denied", "signed in, and access refused all the same (HTTP 403)", {
        serverName,
        hint: `ask who runs the server for access, or sign in as somebody else: ${ownCommand("login", serverName)}`,
        details: { status },
      });
    const { record } = this.#keeper;
    if (sent === undefined && record === undefined) return await this.#needed(status, challenge);
    // Renewed while this request was on its way.
    if (record !== undefined && record.accessToken !== sent) return "next";
    const isAtOnce =
      sent !== undefined && fields === this.#firstUse?.fields && this.#keeper.isOwn(sent);
    if (isAtOnce) this.#refusals += 1;
    if (this.#refusals > maxRefusals || !isRepeatable) return this.#refusedAtOnce();
    this.#isForRefused = true;
    await this.#keeper.renew(sent, challenge ?? { scheme: "bearer" });
    this.#isProven = false;
    return isAtOnce ? "again" : "next";
  }

  /** The server wants a sign-in. Who it is with is looked up, so that the person knows, and whether there is one at all. */
  async #needed(status: number, challenge: AuthChallenge | undefined): Promise<McpError> {
    const { settings, tools, closing } = this.#options;
    const { serverName } = settings;
    const http = new OAuthHttp(settings, tools, closing);
    const issuer = await discoverIssuer(settings, http, { challenge }).catch(() => undefined);
    const isDescribed = issuer !== undefined && issuer.found !== "assumed";
    const reason = isDescribed
      ? `HTTP ${status}; authorization server: ${hostOf(issuer.issuer)}`
      : `HTTP ${status}`;
    const details = {
      status,
      ...(isDescribed ? { authorizationServer: hostOf(issuer.issuer) } : {}),
    };
    if (isDescribed) return signInNeeded(serverName, reason, details);
    const paste = ownCommand("login", serverName, ["--token", "-"]);
    return createError("auth_required", `sign-in needed (${reason})`, {
      serverName,
      hint: `it does not say how; if you have a token for it: ${paste}`,
      details,
    });
  }

  #scopeNeeded({ scope }: AuthChallenge): McpError {
    const { serverName } = this.settings;
    const needed = scopesIn(scope).map((one) => sanitizeText(one, 100));
    const { record } = this.#keeper;
    const asked = record?.requestedScopes ?? [];
    // They were asked for, and the server is not content: to ask again would change nothing.
    const isFruitless =
      this.#fruitlessTries > 0 && scopesIn(scope).every((one) => asked.includes(one));
    if (isFruitless) this.#fruitlessTries = maxFruitlessTries;
    const details = { status: 403, scopes: needed };
    return createError(
      "auth_scope_missing",
      `the sign-in lacks what this needs${needed.length === 0 ? "" : `: ${needed.join(" ")}`}`,
      {
        serverName,
        hint: isFruitless
          ? "it was asked for and not granted: ask who runs the server"
          : this.#howToGet(needed),
        details,
      },
    );
  }

  /** The command says what to ask for: the process in which it is typed has not heard the server. */
  #howToGet(scopes: readonly string[]): string {
    const { serverName, oauth } = this.settings;
    if (isUnattended(oauth)) return 'add it to "scopes" in its entry';
    const options = scopes.flatMap((scope) => ["--scope", shellWord(scope)]);
    return ownCommand("login", serverName, options);
  }

  #refusedAtOnce(): McpError {
    const { serverName } = this.settings;
    const message = "the server refuses the token that was issued for it a moment ago (HTTP 401)";
    return createError("auth_failed", message, {
      serverName,
      hint: "ask who runs the server: its sign-in and the server do not agree",
      details: { status: 401 },
    });
  }

  #refuseFruitless(): void {
    if (this.#fruitlessTries < maxFruitlessTries) return;
    const { serverName } = this.settings;
    throw createError(
      "auth_failed",
      `the server refused what ${maxFruitlessTries} sign-ins granted; another one would change nothing`,
      {
        serverName,
        hint: `ask who runs the server; to try all the same: ${ownCommand("logout", serverName)}`,
      },
    );
  }

  async #issuerFor(before: SignInRecord | undefined, http: OAuthHttp): Promise<TokenIssuer> {
    const { settings } = this.#options;
    return await discoverIssuer(settings, http, {
      challenge: this.#challenge,
      preferredIssuer: before?.issuer,
    });
  }

  async #revoke(record: SignInRecord): Promise<void> {
    const { settings, tools, closing } = this.#options;
    const { revocationEndpoint: endpoint, refreshToken, accessToken } = record;
    if (endpoint === undefined) return;
    const secret = record.client.secret ?? settings.oauth.clientSecret;
    const request = {
      settings,
      issuer: issuerOfRecord(record),
      client: { ...record.client, secret },
      http: new OAuthHttp(settings, tools, closing),
    };
    // With the first of them the issuer ends the second, too; not every one does.
    if (refreshToken !== undefined)
      await revokeToken(request, endpoint, refreshToken, "refresh_token");
    await revokeToken(request, endpoint, accessToken, "access_token");
  }
}

/** The token among the fields of a request. */
function tokenIn(fields: readonly string[]): string | undefined {
  const [name, value] = fields;
  return name === "authorization" ? value?.slice(value.indexOf(" ") + 1) : undefined;
}
