import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { attackDocument, greedyScopes } from "./attacks.ts";
import type { TestAuthorizationServer, TokenVerdict } from "./authorization-server.ts";
import { type ArrivedRequest, isRefusal } from "./oauth-answer.ts";
import { signingAlgorithms } from "./signed-jwt.ts";

export interface TokenGuardOptions {
  readonly authorization: TestAuthorizationServer;
  readonly scopes?: readonly string[] | undefined;
  readonly toolScopes?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly metadata?: "header" | "header-only" | "well-known" | "root" | "none" | undefined;
  readonly expireEvery?: number | undefined;
}

type Challenge = Readonly<Record<string, string | undefined>>;

const wellKnown = "/.well-known/oauth-protected-resource";

/** Stands before a server: lets requests through that bring a good token, and says how to get one. */
export class TokenGuard {
  readonly #path: string;
  readonly #options: TokenGuardOptions;
  readonly #ended = new AbortController();
  readonly #callCounts = new Map<string, number>();
  #authorization: TestAuthorizationServer;
  #stepCount = 0;

  /** `path` is where clients are told that the server is. */
  constructor(path: string, options: TokenGuardOptions) {
    this.#path = path;
    this.#options = options;
    this.#authorization = options.authorization;
  }

  moveTo(authorization: TestAuthorizationServer): void {
    this.#authorization = authorization;
  }

  /** Ends answers that would never end by themselves. */
  close(): void {
    this.#ended.abort();
  }

  /** Answers with `next()`, or with a challenge. */
  async admit(
    request: Request,
    arrived: ArrivedRequest,
    next: () => Response | Promise<Response>,
  ): Promise<Response> {
    const { origin } = new URL(request.url);
    const [, scheme = "", token = ""] =
      /^(\S+) (.+)$/.exec(arrived.headers["authorization"] ?? "") ?? [];
    if (token === "" || !/^(?:bearer|dpop)$/i.test(scheme)) return this.#challenge(origin, 401, {});
    const verdict = this.#authorization.verify(token);
    const isTaken = verdict.isValid && this.#isForMe(verdict.resource, origin);
    if (!isTaken || this.#attack === "401-loop")
      return this.#challenge(origin, 401, { error: "invalid_token" });
    const refusal = this.#checkProof(request, { scheme, token, verdict });
    if (refusal !== undefined) return refusal;
    const tool = calledTool(arrived);
    const missing = this.#wantedScopes(tool, verdict.scopes);
    if (missing !== undefined) {
      const scope = missing.join(" ");
      return this.#challenge(origin, 403, { error: "insufficient_scope", scope });
    }
    if (tool !== undefined) this.#count(token);
    return this.#withNonce(await next());
  }

  /** Answers what is not the server: its metadata, and the authorization server where it lies here. */
  async answerElsewhere(request: Request, { path }: ArrivedRequest): Promise<Response> {
    const { origin } = new URL(request.url);
    if (path === this.#metadataPath) {
      const { trapUrl, clock } = this.#authorization;
      const ended = AbortSignal.any([this.#ended.signal, this.#authorization.ended]);
      const document = { trapUrl, clock, ended };
      return (
        (await attackDocument(this.#attack, "resource-metadata", document)) ??
        Response.json(this.#describe(origin))
      );
    }
    if (this.#metadataPath === undefined) return await this.#authorization.fetch(request);
    return new Response(null, { status: 404 });
  }

  get #attack(): TestAuthorizationServer["options"]["attack"] {
    return this.#authorization.options.attack;
  }

  get #metadataPath(): string | undefined {
    switch (this.#options.metadata ?? "header") {
      case "header":
      case "well-known":
        return `${wellKnown}${this.#path}`;
      case "header-only":
        return "/about/resource.json";
      case "root":
        return wellKnown;
      case "none":
        return undefined;
    }
  }

  /** A server without metadata cannot tell clients its name, so it takes tokens that name nobody. */
  #isForMe(resource: string | undefined, origin: string): boolean {
    const own = `${origin}${this.#path}`;
    if (resource === undefined) return this.#metadataPath === undefined;
    return resource === own || (this.#path === "" && resource === `${own}/`);
  }

  #checkProof(
    request: Request,
    { scheme, token, verdict }: { scheme: string; token: string; verdict: TokenVerdict },
  ): Response | undefined {
    const { url, method } = request;
    const { origin } = new URL(url);
    const boundTo = verdict.isValid ? verdict.boundTo : undefined;
    const isDpop = scheme.toLowerCase() === "dpop";
    // A token that is bound is no bearer token, and the other way round.
    if (isDpop !== (boundTo !== undefined))
      return this.#challenge(origin, 401, { error: "invalid_token" });
    if (boundTo === undefined) return undefined;
    const proof = request.headers.get("dpop") ?? "";
    const key = this.#authorization.resourceProofs.check({
      url,
      method,
      proof,
      accessToken: token,
    });
    if (isRefusal(key)) return this.#challenge(origin, 401, { error: key.error });
    if (key.thumbprint !== boundTo) return this.#challenge(origin, 401, { error: "invalid_token" });
    return undefined;
  }

  /** What the operation needs, when the token lacks some of it. */
  #wantedScopes(
    tool: string | undefined,
    granted: readonly string[],
  ): readonly string[] | undefined {
    const { scopes = [], toolScopes = {} } = this.#options;
    const own =
      tool !== undefined && Object.hasOwn(toolScopes, tool) ? toolScopes[tool] : undefined;
    const needed = [...new Set([...scopes, ...(own ?? [])])];
    const isLooping = own !== undefined || Object.keys(toolScopes).length === 0;
    if (this.#attack === "stepup-loop" && isLooping) {
      this.#stepCount += 1;
      return [...needed, `step:${this.#stepCount}`];
    }
    return needed.every((scope) => granted.includes(scope)) ? undefined : needed;
  }

  #count(token: string): void {
    const { expireEvery } = this.#options;
    const count = (this.#callCounts.get(token) ?? 0) + 1;
    this.#callCounts.set(token, count);
    if (expireEvery !== undefined && count >= expireEvery) this.#authorization.expire(token);
  }

  get #announcedScopes(): readonly string[] | undefined {
    const { scopes } = this.#options;
    return this.#attack === "scope-greed" ? [...(scopes ?? []), ...greedyScopes] : scopes;
  }

  #describe(origin: string): JsonObject {
    const { issuer, trapUrl, options } = this.#authorization;
    const { dpop = "off" } = options;
    const scopes = this.#announcedScopes;
    return {
      resource:
        this.#attack === "resource-mismatch"
          ? "https://other.example.com/mcp"
          : `${origin}${this.#path}`,
      authorization_servers: [this.#attack === "ssrf-authorization-server" ? trapUrl : issuer],
      bearer_methods_supported: ["header"],
      ...(scopes !== undefined && { scopes_supported: scopes }),
      ...(dpop !== "off" && { dpop_signing_alg_values_supported: signingAlgorithms }),
      ...(dpop === "required" && { dpop_bound_access_tokens_required: true }),
    };
  }

  #challenge(origin: string, status: 401 | 403, details: Challenge): Response {
    const { metadata = "header" } = this.#options;
    const { dpop = "off" } = this.#authorization.options;
    const isNamed = metadata === "header" || metadata === "header-only";
    const isTrapped = this.#attack === "ssrf-resource-metadata";
    const place = isTrapped ? this.#authorization.trapUrl : `${origin}${this.#metadataPath}`;
    const parameters = {
      resource_metadata: isNamed || isTrapped ? place : undefined,
      scope: this.#announcedScopes?.join(" "),
      ...details,
    };
    const algs = signingAlgorithms.join(" ");
    const challenges = [
      ...(dpop === "required" ? [] : [writeChallenge("Bearer", parameters)]),
      ...(dpop === "off" ? [] : [writeChallenge("DPoP", { ...parameters, algs })]),
    ];
    const headers = { "www-authenticate": challenges.join(", ") };
    return this.#withNonce(
      Response.json({ error: details["error"] ?? "unauthorized" }, { status, headers }),
    );
  }

  #withNonce(response: Response): Response {
    const { nonce } = this.#authorization.resourceProofs;
    if (nonce === undefined) return response;
    const headers = new Headers(response.headers);
    headers.set("dpop-nonce", nonce);
    return new Response(response.body, { status: response.status, headers });
  }
}

function writeChallenge(scheme: string, parameters: Challenge): string {
  const words = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${value}"`],
  );
  return words.length === 0 ? scheme : `${scheme} ${words.join(", ")}`;
}

/** The tool that a request calls, in MCP or in the REST dialect. */
function calledTool({ path, body }: ArrivedRequest): string | undefined {
  if (!isJsonObject(body)) return undefined;
  const { method, params, name } = body;
  const called = path === "/tools/call" ? name : isJsonObject(params) ? params["name"] : undefined;
  const isCall = path === "/tools/call" || method === "tools/call";
  return isCall && typeof called === "string" ? called : undefined;
}
