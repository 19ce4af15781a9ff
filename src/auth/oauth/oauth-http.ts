import type { FetchLike } from "@modelcontextprotocol/client";

import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { firstOf } from "../../isolation/network/fetch-document.ts";
import { guardedFetch } from "../../isolation/network/guarded-fetch.ts";
import {
  configuredUrlPolicy,
  hostKind,
  type NetworkPolicy,
  serverUrlPolicy,
} from "../../isolation/network/network-policy.ts";
import type { SignInSettings, SignInTools } from "../sign-in-settings.ts";

/** Statuses whose responses have no body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Sends the requests of a sign-in over guarded connections: every address is judged, every answer is bounded in size
 * and time, and nothing but https goes beyond this machine. `fetch` is what the OAuth functions of the SDK take.
 */
export class OAuthHttp {
  readonly #settings: SignInSettings;
  readonly #tools: SignInTools;
  readonly #signal: AbortSignal | undefined;
  #lastStatus: number | undefined;
  #lastDate: string | undefined;

  constructor(settings: SignInSettings, tools: SignInTools, signal?: AbortSignal) {
    this.#settings = settings;
    this.#tools = tools;
    this.#signal = signal;
  }

  /** The status of the last answer: the SDK says only in words what it was. */
  get lastStatus(): number | undefined {
    return this.#lastStatus;
  }

  /** The time of the last answer, as whoever gave it says. */
  get lastDate(): string | undefined {
    return this.#lastDate;
  }

  /** Which addresses a URL may stand for: the person's own words reach further than those of a server. */
  policyFor(url: URL): NetworkPolicy {
    const { policy, allowPrivateNetwork, oauth, url: server } = this.#settings;
    if (url.origin === server.origin) return policy;
    const { authUrl, tokenUrl, issuer, identityProvider } = oauth;
    const written = [authUrl, tokenUrl, issuer, identityProvider].find(
      (text) => text !== undefined && URL.canParse(text) && new URL(text).origin === url.origin,
    );
    return written === undefined
      ? serverUrlPolicy(server, policy)
      : configuredUrlPolicy(written, allowPrivateNetwork);
  }

  readonly fetch: FetchLike = async (input, init) => {
    const url = new URL(input);
    const { serverName } = this.#settings;
    const { limits, clock, hostEnv } = this.#tools;
    refusePlainHttp(url, serverName);
    this.#lastStatus = undefined;
    const method = (init?.method ?? "GET") as "GET" | "POST";
    const body = bodyText(init?.body);
    const document = await guardedFetch(url, {
      method,
      headers: Object.fromEntries(new Headers(init?.headers)),
      ...(body === undefined ? {} : { body }),
      maxBytes: limits.oauthDocumentBytes,
      idleTimeoutMs: limits.oauthTimeoutMs,
      totalTimeoutMs: limits.oauthTimeoutMs,
      policy: this.policyFor(url),
      hostEnv,
      clock,
      serverName,
      ...(this.#signal === undefined ? {} : { signal: this.#signal }),
    }).catch((error: unknown) => {
      throw unreachable(url, error, serverName);
    });
    const { status, headers, text } = document;
    this.#lastStatus = status;
    this.#lastDate = firstOf(headers["date"]);
    const type = firstOf(headers["content-type"]) ?? "";
    const isForm = method === "POST" && /^application\/x-www-form-urlencoded\b/i.test(type);
    const fields = new Headers();
    // The SDK tells by its name that the body is JSON, and looks at nonces besides.
    for (const name of ["content-type", "dpop-nonce"]) {
      const value = firstOf(headers[name]);
      if (value !== undefined) fields.set(name, value);
    }
    const shown = bodiless.has(status) ? null : isForm ? formAsJson(text) : text;
    return new Response(shown, { status: isStatus(status) ? status : 502, headers: fields });
  };
}

function refusePlainHttp(url: URL, serverName: string): void {
  if (url.protocol !== "http:" || hostKind(url.hostname) === "loopback") return;
  const message = `refused to sign in through ${url.host}: its address is not encrypted (http)`;
  throw createError("auth_failed", message, {
    serverName,
    hint: "tell whoever runs the server that its sign-in needs https",
  });
}

/** An address that was refused stays `blocked_address`; whatever else kept an answer away is told in one way. */
function unreachable(url: URL, error: unknown, serverName: string): McpError {
  if (!McpError.is(error))
    return createError("auth_endpoint_unreachable", `${url.host} could not be asked`, {
      serverName,
      cause: error,
    });
  if (error.code === "blocked_address" || error.code === "cancelled") return error;
  return createError("auth_endpoint_unreachable", `sign-in: ${error.message}`, {
    serverName,
    retryable: error.code !== "too_large",
    hint: error.hint ?? `check that ${url.host} can be reached from here, and try again`,
    details: { ...error.details, host: url.host, reason: error.code },
    cause: error,
  });
}

/** The SDK sends forms and JSON, and nothing else. */
function bodyText(body: unknown): string | undefined {
  if (body instanceof URLSearchParams) return body.toString();
  return typeof body === "string" ? body : undefined;
}

/** Some servers answer a request for a token in the form in which it was asked. */
function formAsJson(text: string): string {
  const fields = Object.fromEntries(new URLSearchParams(text));
  const { expires_in: lifetime } = fields;
  const isNumber = lifetime !== undefined && /^\d{1,12}$/.test(lifetime);
  return JSON.stringify(isNumber ? { ...fields, expires_in: Number(lifetime) } : fields);
}

function isStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 200 && status <= 599;
}
