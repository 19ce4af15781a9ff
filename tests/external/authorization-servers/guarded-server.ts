import { createHash, createPublicKey, type JsonWebKey, verify } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";

import { createTestServer, serveHttp } from "plugboard/testing";

/** What an issuer says of a token. */
export interface TokenVerdict {
  readonly active: boolean;
  /** What the token is for, where the issuer knows of such a thing. */
  readonly resource: string | undefined;
  /** Of the key that the token is bound to. */
  readonly thumbprint: string | undefined;
}

export interface Issuer {
  readonly issuer: string;
  introspect(token: string): Promise<TokenVerdict>;
}

const wellKnown = "/.well-known/oauth-protected-resource/mcp";
const forwarded = ["content-type", "accept", "mcp-session-id", "mcp-protocol-version"];

/** An MCP server behind a guard that asks the issuer about every token. */
export class GuardedServer implements AsyncDisposable {
  /** The tokens that were let in, oldest first, each once. */
  readonly tokens = new Set<string>();
  readonly #issuer: Issuer;
  readonly #server: Server;
  readonly #inner: Awaited<ReturnType<typeof serveHttp>>;

  private constructor(issuer: Issuer, inner: Awaited<ReturnType<typeof serveHttp>>) {
    this.#issuer = issuer;
    this.#inner = inner;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async open(issuer: Issuer): Promise<GuardedServer> {
    const guarded = new GuardedServer(issuer, await serveHttp(createTestServer()));
    await once(guarded.#server.listen(0, "127.0.0.1"), "listening");
    return guarded;
  }

  get url(): string {
    return `${this.#origin}/mcp`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
    await this.#inner.close();
  }

  get #origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    if (request.url === wellKnown) {
      const servers = [this.#issuer.issuer];
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ resource: this.url, authorization_servers: servers }));
      return;
    }
    if (!(await this.#isWelcome(request))) {
      const error = request.headers.authorization === undefined ? "" : ', error="invalid_token"';
      const challenge = `resource_metadata="${this.#origin}${wellKnown}", scope="mcp"${error}`;
      response.writeHead(401, { "www-authenticate": `Bearer ${challenge}, DPoP ${challenge}` });
      response.end();
      return;
    }
    const answer = await fetch(this.#inner.url, {
      method: request.method ?? "GET",
      headers: forwarded.flatMap((name): [string, string][] => {
        const value = request.headers[name];
        return typeof value === "string" ? [[name, value]] : [];
      }),
      ...(body.length > 0 && { body }),
    });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) response.end();
    else await pipeline(Readable.fromWeb(answer.body), response);
  }

  async #isWelcome(request: IncomingMessage): Promise<boolean> {
    const [scheme = "", token = ""] = (request.headers.authorization ?? "").split(" ");
    if (token === "") return false;
    const { active, resource, thumbprint } = await this.#issuer.introspect(token);
    const isForMe = resource === undefined || resource === this.url;
    const isProven =
      thumbprint === undefined
        ? scheme === "Bearer"
        : scheme === "DPoP" && provenKey(request, token) === thumbprint;
    if (!active || !isForMe || !isProven) return false;
    this.tokens.add(token);
    return true;
  }
}

/** The thumbprint of the key that signed the proof of a request (RFC 9449); undefined for a proof of something else. */
function provenKey({ headers, method }: IncomingMessage, token: string): string | undefined {
  const proof = String(headers["dpop"]);
  const [header = "", payload = "", signature = ""] = proof.split(".");
  const parse = (part: string): Record<string, unknown> =>
    JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
  const { crv, kty, x, y } = parse(header)["jwk"] as JsonWebKey;
  const key = createPublicKey({ key: { crv, kty, x, y } as JsonWebKey, format: "jwk" });
  const isSigned = verify(
    "sha256",
    Buffer.from(`${header}.${payload}`),
    { key, dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url"),
  );
  const hash = (text: string): string => createHash("sha256").update(text).digest("base64url");
  const { htm, ath } = parse(payload);
  return isSigned && htm === method && ath === hash(token)
    ? hash(JSON.stringify({ crv, kty, x, y }))
    : undefined;
}
