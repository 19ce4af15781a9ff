import { type JsonWebKey, randomUUID } from "node:crypto";

import { type LoopbackListener, listenOnLoopback } from "../../listener/loopback-listener.ts";
import { type Clock, systemClock } from "../../ports/clock.ts";
import type { AuthorizationAttack } from "./attacks.ts";
import type {
  AuthorizationServerOptions,
  GrantType,
  TrustedIssuer,
} from "./authorization-options.ts";
import type { AuthorizationSite } from "./authorization-site.ts";
import { answerAuthorize } from "./authorize-endpoint.ts";
import { ClientRegistry } from "./client-registry.ts";
import { DpopProofs } from "./dpop-proofs.ts";
import {
  type ArrivedRequest,
  ArrivedRequests,
  isRefusal,
  membersOf,
  refusalResponse,
} from "./oauth-answer.ts";
import { answerMetadata, metadataPath } from "./server-metadata.ts";
import { createSigningKey } from "./signed-jwt.ts";
import { TokenBook, type TokenFailure } from "./token-book.ts";
import { answerToken, grantTypeOf } from "./token-endpoint.ts";

/** How often each thing was asked for. */
export interface AuthorizationCounts {
  readonly authorize: number;
  readonly register: number;
  readonly revoke: number;
  /** Token requests, by their grant; one without an entry never came. */
  readonly token: Readonly<Partial<Record<GrantType, number>>>;
  /** Token requests answered with `invalid_grant`. */
  readonly invalidGrant: number;
  /** Refresh tokens presented again: a client that renews once at a time has none. */
  readonly refreshReuse: number;
}

export interface TokenDemand {
  /** The resource the token must be for. */
  readonly resource?: string | undefined;
  /** The scopes the token must have, all of them. */
  readonly scopes?: readonly string[] | undefined;
}

export type TokenVerdict =
  | {
      readonly isValid: true;
      readonly clientId: string;
      readonly scopes: readonly string[];
      readonly resource: string | undefined;
      /** Thumbprint of the key that must sign a proof for each use; undefined for a bearer token. */
      readonly boundTo: string | undefined;
    }
  | { readonly isValid: false; readonly reason: TokenFailure | "audience" | "scope" };

/** Token requests that wait for their answer, so that a test decides what happens meanwhile. */
export interface HeldRequests {
  /** Resolves when this many wait. */
  until(count: number): Promise<void>;
  release(): void;
}

export interface AuthorizationServer extends TrustedIssuer, AsyncDisposable {
  readonly issuer: string;
  /** `http://127.0.0.1:<port>`: the issuer without its path. */
  readonly url: string;
  /** Checks what this server signs. */
  readonly publicKey: JsonWebKey;
  /** Everything that arrived, oldest first. */
  readonly requests: readonly ArrivedRequest[];
  readonly counts: AuthorizationCounts;
  /** What reached the server's own trap. A client that falls for no attack leaves it empty. */
  readonly trapRequests: readonly ArrivedRequest[];
  /** Whether an access token is good, and for what is asked. */
  verify(accessToken: string, demand?: TokenDemand): TokenVerdict;
  isTokenValid(accessToken: string): boolean;
  /** Ends one access token, or all of them; they can be renewed. */
  expire(accessToken?: string): void;
  /** Ends all tokens for good, refresh tokens too. */
  revokeAll(): void;
  /** Listed and registered clients get `invalid_client` from now on. */
  forgetClients(): void;
  /** Proofs with the nonces so far are refused from now on. */
  renewNonces(): void;
  /** An identity token of a person, to be exchanged for an assertion. */
  signIdToken(subject: string, audience: string): string;
  /** Keeps token requests waiting from now on. */
  holdTokenRequests(): HeldRequests;
  close(): Promise<void>;
}

/** Starts an OAuth authorization server on 127.0.0.1; without options it is a correct one of today. */
export async function startAuthorizationServer(
  options: AuthorizationServerOptions = {},
): Promise<AuthorizationServer> {
  const server = new TestAuthorizationServer(options);
  await server.listen();
  return server;
}

class Hold {
  readonly #waiting: (() => void)[] = [];
  readonly #watchers = new Set<() => void>();
  #isReleased = false;

  async until(count: number): Promise<void> {
    while (this.#waiting.length < count)
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
  }

  async wait(): Promise<void> {
    if (this.#isReleased) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      for (const watcher of this.#watchers) watcher();
      this.#watchers.clear();
    });
  }

  release(): void {
    this.#isReleased = true;
    for (const resolve of this.#waiting) resolve();
  }
}

/** What the protected server needs of it beside its public face. */
export class TestAuthorizationServer implements AuthorizationServer {
  readonly options: AuthorizationServerOptions;
  readonly clock: Clock;
  /** Proofs at protected servers have nonces of their own. */
  readonly resourceProofs: DpopProofs;
  readonly #shared: Omit<AuthorizationSite, "issuer" | "trapUrl">;
  readonly #counts = { authorize: 0, register: 0, revoke: 0, invalidGrant: 0 };
  readonly #tokenCounts: Partial<Record<GrantType, number>> = {};
  readonly #arrived = new ArrivedRequests();
  readonly #trapped = new ArrivedRequests();
  readonly #ended = new AbortController();
  #listeners: readonly LoopbackListener[] = [];
  #url = "";
  #trapUrl = "";
  #hold: Hold | undefined;

  constructor(options: AuthorizationServerOptions) {
    const { clock = systemClock, attack, dpopNonce = false } = options;
    this.options = options;
    this.clock = clock;
    this.resourceProofs = new DpopProofs(clock, dpopNonce);
    this.#shared = {
      options,
      attack,
      grants: options.grants ?? ["authorization_code", "refresh_token"],
      pkce: options.pkce ?? attackedPkce(attack),
      clock,
      clients: new ClientRegistry(options, clock),
      tokens: new TokenBook(options, clock),
      proofs: new DpopProofs(clock, dpopNonce),
      key: createSigningKey(),
      usedAssertions: new Set(),
    };
  }

  async listen(): Promise<void> {
    const { port, limits, attack, trapUrl } = this.options;
    const listener = await listenOnLoopback({ port, limits, fetch: (each) => this.fetch(each) });
    this.#listeners = [listener];
    this.#url = listener.url;
    this.#trapUrl = trapUrl ?? `${listener.url}/trap`;
    if (attack === undefined || trapUrl !== undefined) return;
    const trap = await listenOnLoopback({
      fetch: (each) => this.#trapped.answer(each, () => new Response(null, { status: 404 })),
    });
    this.#listeners = [listener, trap];
    this.#trapUrl = `${trap.url}/trap`;
  }

  get url(): string {
    return this.#url;
  }

  get issuer(): string {
    return `${this.#url}${this.options.issuerPath ?? ""}`;
  }

  get requests(): readonly ArrivedRequest[] {
    return this.#arrived.all;
  }

  get trapRequests(): readonly ArrivedRequest[] {
    return this.#trapped.all;
  }

  get publicKey(): JsonWebKey {
    return this.#shared.key.publicKey;
  }

  get trapUrl(): string {
    return this.#trapUrl;
  }

  /** Aborts when the server closes. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  get counts(): AuthorizationCounts {
    const refreshReuse = this.#shared.tokens.refreshReuseCount;
    return { ...this.#counts, token: { ...this.#tokenCounts }, refreshReuse };
  }

  verify(accessToken: string, { resource, scopes = [] }: TokenDemand = {}): TokenVerdict {
    const found = this.#shared.tokens.look(accessToken);
    if (typeof found === "string") return { isValid: false, reason: found };
    if (resource !== undefined && found.resource !== resource)
      return { isValid: false, reason: "audience" };
    if (!scopes.every((scope) => found.scopes.includes(scope)))
      return { isValid: false, reason: "scope" };
    const { clientId, boundTo } = found;
    return { isValid: true, clientId, scopes: found.scopes, resource: found.resource, boundTo };
  }

  isTokenValid(accessToken: string): boolean {
    return this.verify(accessToken).isValid;
  }

  expire(accessToken?: string): void {
    const { tokens } = this.#shared;
    if (accessToken === undefined) tokens.expireAll();
    else tokens.expire(accessToken);
  }

  revokeAll(): void {
    this.#shared.tokens.revokeAll();
  }

  forgetClients(): void {
    this.#shared.clients.forgetAll();
  }

  renewNonces(): void {
    this.#shared.proofs.renewNonce();
    this.resourceProofs.renewNonce();
  }

  signIdToken(subject: string, audience: string): string {
    const now = Math.floor(this.clock.now() / 1_000);
    const claims = { iss: this.issuer, sub: subject, aud: audience, jti: randomUUID() };
    return this.#shared.key.sign({ ...claims, iat: now, exp: now + 300 });
  }

  holdTokenRequests(): HeldRequests {
    const hold = new Hold();
    this.#hold = hold;
    return {
      until: (count) => hold.until(count),
      release: () => {
        if (this.#hold === hold) this.#hold = undefined;
        hold.release();
      },
    };
  }

  /**
   * Answers a request at whatever origin it came to: a protected server without metadata of its own
   * has this server behind its own address, as MCP 2025-03-26 had it.
   */
  fetch(request: Request): Promise<Response> {
    const { origin } = new URL(request.url);
    return this.#arrived.answer(request, (arrived) => this.#answer(arrived, origin));
  }

  async close(): Promise<void> {
    this.#ended.abort();
    this.#hold?.release();
    await Promise.all(this.#listeners.map((listener) => listener.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #answer(arrived: ArrivedRequest, origin: string): Promise<Response> {
    const { issuerPath = "" } = this.options;
    const issuer = `${origin}${issuerPath}`;
    const site: AuthorizationSite = { ...this.#shared, issuer, trapUrl: this.#trapUrl };
    if (arrived.path === metadataPath(site)) return await answerMetadata(site, this.ended);
    const isInside = arrived.path.startsWith(`${issuerPath}/`);
    switch (isInside ? arrived.path.slice(issuerPath.length) : "") {
      case "/authorize":
        this.#counts.authorize += 1;
        return answerAuthorize(site, arrived);
      case "/token":
        return await this.#answerToken(site, arrived);
      case "/register":
        return this.#register(site, arrived);
      case "/revoke":
        return this.#revoke(site, arrived);
      case "/jwks":
        return Response.json({ keys: [this.publicKey] });
      default:
        return new Response(null, { status: 404 });
    }
  }

  async #answerToken(site: AuthorizationSite, arrived: ArrivedRequest): Promise<Response> {
    const grantType = grantTypeOf(arrived);
    if (grantType !== undefined)
      this.#tokenCounts[grantType] = (this.#tokenCounts[grantType] ?? 0) + 1;
    await this.#hold?.wait();
    const { response, error } = answerToken(site, arrived);
    if (error === "invalid_grant") this.#counts.invalidGrant += 1;
    return response;
  }

  #register(site: AuthorizationSite, arrived: ArrivedRequest): Response {
    this.#counts.register += 1;
    const { registration = "both" } = this.options;
    if (registration !== "both" && registration !== "dynamic")
      return new Response(null, { status: 404 });
    const answer = site.clients.register(membersOf(arrived));
    if (isRefusal(answer)) return refusalResponse(answer);
    return Response.json(answer, { status: 201, headers: { "cache-control": "no-store" } });
  }

  #revoke(site: AuthorizationSite, arrived: ArrivedRequest): Response {
    this.#counts.revoke += 1;
    const form = membersOf(arrived);
    const audiences = [site.issuer, `${site.issuer}/token`, `${site.issuer}/revoke`];
    const { authorization } = arrived.headers;
    const client = site.clients.authenticate({ authorization, form, audiences });
    if (isRefusal(client)) return refusalResponse(client);
    site.tokens.revoke(String(form["token"]), client.clientId);
    // Unknown tokens are no error (RFC 7009).
    return new Response(null, { status: 200 });
  }
}

function attackedPkce(attack: AuthorizationAttack | undefined): AuthorizationSite["pkce"] {
  if (attack === "no-pkce") return "missing";
  return attack === "plain-pkce" ? "plain" : "S256";
}
