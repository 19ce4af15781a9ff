import { randomUUID, timingSafeEqual } from "node:crypto";

import type { Clock } from "../../ports/clock.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import {
  type AuthorizationServerOptions,
  type ClientAuthMethod,
  type KnownClient,
  clientAuthMethods,
} from "./authorization-options.ts";
import { type Refusal, refuse } from "./oauth-answer.ts";
import { isSignedBy, readJwt } from "./signed-jwt.ts";

/** A client with nothing left open. */
export interface ServerClient extends Omit<KnownClient, "redirectUris"> {
  readonly redirectUris: readonly string[] | "any loopback";
  readonly authMethod: ClientAuthMethod;
}

/** What a client sent to prove itself at an endpoint. */
export interface ClientProof {
  readonly authorization: string | undefined;
  readonly form: Readonly<Record<string, unknown>>;
  /** Who an assertion may be addressed to. */
  readonly audiences: readonly string[];
}

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** The clients of one server: listed, registered, or described by a document at their URL. */
export class ClientRegistry {
  readonly #clients = new Map<string, ServerClient>();
  readonly #usedAssertions = new Set<string>();
  readonly #documents: Readonly<Record<string, JsonObject>>;
  readonly #takesDocuments: boolean;
  readonly #methods: readonly ClientAuthMethod[];
  readonly #clock: Clock;

  constructor(options: AuthorizationServerOptions, clock: Clock) {
    const { registration = "both", clients = [], metadataDocuments = {} } = options;
    this.#clock = clock;
    this.#documents = metadataDocuments;
    this.#takesDocuments = registration === "both" || registration === "metadata-document";
    this.#methods = options.authMethods ?? clientAuthMethods;
    for (const client of clients) {
      const { clientSecret, redirectUris = [] } = client;
      const authMethod =
        client.authMethod ?? (clientSecret === undefined ? "none" : "client_secret_basic");
      this.#clients.set(client.clientId, { ...client, redirectUris, authMethod });
    }
  }

  find(clientId: string): ServerClient | undefined {
    return this.#clients.get(clientId) ?? this.#fromDocument(clientId);
  }

  /** Listed and registered clients are unknown from now on. */
  forgetAll(): void {
    this.#clients.clear();
  }

  /** Dynamic registration (RFC 7591): the answer's body, or why not. */
  register(metadata: JsonObject): JsonObject | Refusal {
    const redirectUris = metadata["redirect_uris"] ?? [];
    if (!isTextList(redirectUris) || !redirectUris.every(isUsableRedirect))
      return refuse("invalid_redirect_uri", "redirect_uris must be https or loopback addresses.");
    const grants = metadata["grant_types"] ?? ["authorization_code"];
    if (!isTextList(grants))
      return refuse("invalid_client_metadata", "grant_types must be a list of texts.");
    if (grants.includes("authorization_code") && redirectUris.length === 0)
      return refuse("invalid_redirect_uri", "redirect_uris is missing.");
    const authMethod = this.#chooseMethod(metadata["token_endpoint_auth_method"]);
    const clientId = `client-${randomUUID()}`;
    const clientSecret = usesSecret(authMethod) ? randomUUID() : undefined;
    const name = textOf(metadata["client_name"]) ?? clientId;
    this.#clients.set(clientId, { clientId, clientSecret, redirectUris, authMethod, name });
    return {
      ...metadata,
      client_id: clientId,
      client_id_issued_at: Math.floor(this.#clock.now() / 1_000),
      ...(clientSecret !== undefined && {
        client_secret: clientSecret,
        client_secret_expires_at: 0,
      }),
      token_endpoint_auth_method: authMethod,
    };
  }

  /** The client that proved itself by the one method declared for it, or why not. */
  authenticate(proof: ClientProof): ServerClient | Refusal {
    const basic = readBasic(proof.authorization);
    const assertion = proof.form["client_assertion"];
    const { clientId, secret, method } = statedProof(proof, basic, assertion);
    const client = this.find(clientId);
    if (client === undefined) return invalidClient("The client is not known.", basic);
    if (client.authMethod !== method)
      return invalidClient(`The client authenticates with ${client.authMethod}.`, basic);
    if (method === "private_key_jwt") return this.#checkAssertion(client, proof);
    if (usesSecret(method) && !isSame(secret ?? "", client.clientSecret ?? ""))
      return invalidClient("The client secret is wrong.", basic);
    return client;
  }

  #chooseMethod(asked: unknown): ClientAuthMethod {
    const method = this.#methods.find((each) => each === (asked ?? "client_secret_basic"));
    return method ?? this.#methods[0] ?? "none";
  }

  #fromDocument(url: string): ServerClient | undefined {
    if (!this.#takesDocuments || !isDocumentUrl(url)) return undefined;
    const document = Object.hasOwn(this.#documents, url) ? this.#documents[url] : undefined;
    if (document === undefined)
      return Object.keys(this.#documents).length > 0
        ? undefined
        : { clientId: url, redirectUris: "any loopback", authMethod: "none", name: url };
    const redirectUris = document["redirect_uris"];
    // The document must say that it is about this very address.
    if (document["client_id"] !== url || !isTextList(redirectUris)) return undefined;
    const [publicKey] = keysOf(document);
    const name = textOf(document["client_name"]) ?? url;
    const authMethod = publicKey === undefined ? "none" : "private_key_jwt";
    return { clientId: url, redirectUris, authMethod, publicKey, name };
  }

  #checkAssertion(client: ServerClient, { form, audiences }: ClientProof): ServerClient | Refusal {
    const jwt = readJwt(textOf(form["client_assertion"]) ?? "");
    const { publicKey, clientId } = client;
    if (form["client_assertion_type"] !== assertionType || jwt === undefined)
      return invalidClient("The client assertion is no JWT.");
    if (publicKey === undefined || !isSignedBy(jwt, publicKey))
      return invalidClient("The client assertion is not signed by the client's key.");
    const { iss, sub, aud, exp, jti } = jwt.claims;
    if (iss !== clientId || sub !== clientId)
      return invalidClient("The client assertion is about another client.");
    if (![aud].flat().some((each) => audiences.includes(String(each))))
      return invalidClient("The client assertion is for another server.");
    if (typeof exp !== "number" || exp * 1_000 <= this.#clock.now())
      return invalidClient("The client assertion has expired.");
    if (typeof jti !== "string" || this.#usedAssertions.has(jti))
      return invalidClient("The client assertion was used before.");
    this.#usedAssertions.add(jti);
    return client;
  }
}

function statedProof(
  { form }: ClientProof,
  basic: BasicPair | undefined,
  assertion: unknown,
): { readonly clientId: string; readonly secret?: string; readonly method: ClientAuthMethod } {
  if (basic !== undefined)
    return { clientId: basic.name, secret: basic.password, method: "client_secret_basic" };
  if (typeof assertion === "string") {
    const named = textOf(form["client_id"]) ?? textOf(readJwt(assertion)?.claims["sub"]);
    return { clientId: named ?? "", method: "private_key_jwt" };
  }
  const clientId = textOf(form["client_id"]) ?? "";
  const secret = form["client_secret"];
  return typeof secret === "string"
    ? { clientId, secret, method: "client_secret_post" }
    : { clientId, method: "none" };
}

/** Whether the address asked for is a registered one; loopback addresses may have any port (RFC 8252). */
export function allowsRedirect({ redirectUris }: ServerClient, asked: string): boolean {
  if (redirectUris === "any loopback") return isLoopback(asked);
  return redirectUris.some(
    (registered) =>
      registered === asked ||
      (isLoopbackAddress(registered) && withoutPort(registered) === withoutPort(asked)),
  );
}

function isLoopback(text: string): boolean {
  const url = parseUrl(text);
  return url?.protocol === "http:" && loopbackNames.has(url.hostname);
}

const loopbackNames = new Set(["127.0.0.1", "[::1]", "localhost"]);

function isLoopbackAddress(text: string): boolean {
  return isLoopback(text) && parseUrl(text)?.hostname !== "localhost";
}

/** Everything but the port stays as it was written: no other spelling is the same address. */
function withoutPort(text: string): string {
  return text.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\])):\d+/, "$1");
}

function isUsableRedirect(text: string): boolean {
  const url = parseUrl(text);
  if (url === undefined || text.includes("#")) return false;
  return (
    url.protocol === "https:" ||
    isLoopback(text) ||
    /^[a-z][a-z\d]*(?:\.[\w-]+)+:$/.test(url.protocol)
  );
}

function isDocumentUrl(text: string): boolean {
  const url = parseUrl(text);
  return url?.protocol === "https:" && url.pathname !== "/" && !text.includes("#");
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function keysOf(document: JsonObject): readonly JsonObject[] {
  const jwks = document["jwks"];
  const keys = isJsonObject(jwks) ? jwks["keys"] : undefined;
  return Array.isArray(keys) ? keys.filter(isJsonObject) : [];
}

function usesSecret(method: ClientAuthMethod): boolean {
  return method === "client_secret_basic" || method === "client_secret_post";
}

interface BasicPair {
  readonly name: string;
  readonly password: string;
}

function readBasic(authorization: string | undefined): BasicPair | undefined {
  const [, encoded] = /^basic (\S+)$/i.exec(authorization ?? "") ?? [];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return { name: fromForm(pair.slice(0, colon)), password: fromForm(pair.slice(colon + 1)) };
}

/** RFC 6749 has both halves encoded like a form. */
function fromForm(text: string): string {
  return new URLSearchParams(`v=${text.replaceAll("&", "%26")}`).get("v") ?? "";
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return expected !== "" && left.length === right.length && timingSafeEqual(left, right);
}

function invalidClient(description: string, basic?: BasicPair): Refusal {
  const headers = basic && { "www-authenticate": 'Basic realm="authorization server"' };
  return refuse("invalid_client", description, 401, headers);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
