import type { Clock } from "../../ports/clock.ts";
import type { JsonObject } from "../../text/json-object.ts";

/** Every way in which a server can be made hostile, with what it does. */
export const authorizationAttacks = {
  "ssrf-resource-metadata": "The challenge names the trap as the place of the resource's metadata.",
  "ssrf-authorization-server": "The resource names the trap as its authorization server.",
  "ssrf-endpoints": "The metadata names the trap as token and registration endpoint.",
  "redirect-metadata": "The metadata answers with a redirect to the trap.",
  "redirect-resource-metadata": "The resource's metadata answers with a redirect to the trap.",
  "redirect-token":
    "The token endpoint answers with a 307 to the trap, which would take the code along.",
  "huge-metadata": "The metadata is 50 MB long.",
  "huge-resource-metadata": "The resource's metadata is 50 MB long.",
  "slow-metadata": "The metadata is never answered.",
  "slow-resource-metadata": "The resource's metadata is never answered.",
  "trickle-metadata": "The metadata arrives byte by byte and never ends.",
  "trickle-resource-metadata": "The resource's metadata arrives byte by byte and never ends.",
  "js-url": "The authorization endpoint is a `javascript:` URL.",
  "file-url": "The authorization endpoint is a `file:` URL.",
  "flag-url": "The authorization endpoint reads like an option of a program.",
  "cmd-url": "The authorization endpoint holds what a shell would run.",
  "http-endpoints": "Authorization and token endpoint are plain http on another host.",
  "no-pkce": "The metadata does not offer PKCE.",
  "plain-pkce": "The metadata offers PKCE without a hash only.",
  "issuer-mismatch": "The metadata names another issuer than the one it was asked for.",
  mixup: "The callback names another issuer.",
  "iss-missing": "The callback names no issuer although the metadata promises one.",
  "iss-normalized": "The callback names the issuer in another spelling.",
  "state-forge": "The callback carries another state.",
  "state-missing": "The callback carries no state.",
  "resource-mismatch": "The resource's metadata is about another resource.",
  "error-html": "The callback carries an error with markup and escape sequences.",
  "token-error-html": "The token endpoint answers with an HTML page.",
  "token-error-text": "The token endpoint answers with an error with markup and escape sequences.",
  "scope-greed":
    "The resource asks for every scope, and the server grants more than was asked for.",
  "scope-short": "The server grants only the first of the scopes asked for.",
  "stepup-loop": "The resource asks for one more scope, for ever.",
  "401-loop": "The resource refuses every token, fresh ones too.",
  "token-junk-crlf": "The access token holds a line break and a header.",
  "token-junk-spaces": "The access token holds spaces.",
  "token-junk-huge": "The access token is 1 MB long.",
  "token-junk-object": "The access token is an object.",
  "token-junk-missing": "The answer holds no access token.",
  "token-junk-type": "The token type is one that nobody knows.",
  "token-junk-lifetime": "The lifetime of the token is no number of seconds.",
} as const satisfies Readonly<Record<string, string>>;

export type AuthorizationAttack = keyof typeof authorizationAttacks;

/** Markup and terminal sequences that must never reach a page or a terminal as they are. */
export const hostileText = `<script>alert(1)</script><img src=x onerror=alert(1)>\u001b[2J\u001b]0;owned\u0007`;

/** Scopes nobody asked for. */
export const greedyScopes: readonly string[] = ["admin", "files:write", "offline_access"];

/** What an attack makes of one thing; attacks that are about something else have no entry. */
type Attacked<Change> = Readonly<Partial<Record<AuthorizationAttack, Change>>>;

const authorizeAt =
  (authorization_endpoint: string) =>
  (metadata: JsonObject): JsonObject => ({ ...metadata, authorization_endpoint });

const metadataAttacks: Attacked<(metadata: JsonObject, trapUrl: string) => JsonObject> = {
  "ssrf-endpoints": (metadata, trapUrl) => ({
    ...metadata,
    token_endpoint: trapUrl,
    registration_endpoint: trapUrl,
  }),
  "js-url": authorizeAt("javascript:alert(document.domain)//"),
  "file-url": authorizeAt("file:///etc/passwd"),
  "flag-url": authorizeAt("--gpu-launcher=touch plugboard-was-here"),
  "cmd-url": (metadata) => ({
    ...metadata,
    authorization_endpoint: `${String(metadata["authorization_endpoint"])}?a=$(touch plugboard-was-here)&b=\`id\`|calc.exe&c="&start"`,
  }),
  "http-endpoints": (metadata) => ({
    ...metadata,
    authorization_endpoint: "http://login.example.com/authorize",
    token_endpoint: "http://login.example.com/token",
  }),
  "issuer-mismatch": (metadata) => ({ ...metadata, issuer: otherIssuer }),
};

const otherIssuer = "https://other.example.com";

/** The authorization server's metadata as the attack has it. */
export function attackMetadata(
  attack: AuthorizationAttack | undefined,
  metadata: JsonObject,
  trapUrl: string,
): JsonObject {
  return find(metadataAttacks, attack)?.(metadata, trapUrl) ?? metadata;
}

function find<Change>(
  table: Attacked<Change>,
  attack: AuthorizationAttack | undefined,
): Change | undefined {
  return attack === undefined ? undefined : table[attack];
}

const hugeBytes = 50 * 1_024 * 1_024;

export interface AttackedDocument {
  readonly trapUrl: string;
  readonly clock: Clock;
  /** Aborts when the server closes. */
  readonly ended: AbortSignal;
}

/** What stands for a document under attack; undefined when the attack is about something else. */
export function attackDocument(
  attack: AuthorizationAttack | undefined,
  which: "metadata" | "resource-metadata",
  { trapUrl, clock, ended }: AttackedDocument,
): Response | Promise<Response> | undefined {
  if (attack === `redirect-${which}`)
    return new Response(null, { status: 302, headers: { location: trapUrl } });
  if (attack === `huge-${which}`) return new Response(hugeJson(), jsonHeaders);
  if (attack === `slow-${which}`) return untilEnded(ended);
  if (attack === `trickle-${which}`) return new Response(trickle(clock, ended), jsonHeaders);
  return undefined;
}

const jsonHeaders = { headers: { "content-type": "application/json" } } as const;

/** A JSON object of one long text, made while it is read. */
function hugeJson(): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const chunk = encoder.encode("a".repeat(65_536));
  let left = hugeBytes;
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode('{"padding":"')),
    pull(controller) {
      if (left > 0) controller.enqueue(chunk);
      else {
        controller.enqueue(encoder.encode('"}'));
        controller.close();
      }
      left -= chunk.byteLength;
    },
  });
}

const trickleMs = 100;

function trickle(clock: Clock, ended: AbortSignal): ReadableStream<Uint8Array> {
  const space = new TextEncoder().encode(" ");
  let isCancelled = false;
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(space),
    pull: (controller) =>
      new Promise((resolve) => {
        const next = clock.schedule(trickleMs, () => {
          ended.removeEventListener("abort", stop);
          if (!isCancelled) controller.enqueue(space);
          resolve();
        });
        const stop = (): void => {
          next.cancel();
          // A reader that went away has closed it.
          if (!isCancelled) controller.close();
          resolve();
        };
        if (ended.aborted) stop();
        else ended.addEventListener("abort", stop, { once: true });
      }),
    cancel() {
      isCancelled = true;
    },
  });
}

async function untilEnded(ended: AbortSignal): Promise<Response> {
  if (!ended.aborted)
    await new Promise<void>((resolve) => {
      ended.addEventListener("abort", () => resolve(), { once: true });
    });
  return new Response(null, { status: 503 });
}

/** The parameters of a callback; an undefined one is left out. */
export type CallbackParameters = Readonly<Record<string, string | undefined>>;

const callbackAttacks: Attacked<(parameters: CallbackParameters) => CallbackParameters> = {
  mixup: (parameters) => ({ ...parameters, iss: otherIssuer }),
  "iss-missing": (parameters) => ({ ...parameters, iss: undefined }),
  "iss-normalized": (parameters) => ({ ...parameters, iss: `${parameters["iss"] ?? ""}/` }),
  "state-forge": (parameters) => ({ ...parameters, state: "forged-state" }),
  "state-missing": (parameters) => ({ ...parameters, state: undefined }),
  "error-html": (parameters) => ({
    ...parameters,
    code: undefined,
    error: hostileText,
    error_description: hostileText,
  }),
};

/** A callback as the attack has it. */
export function attackCallback(
  attack: AuthorizationAttack | undefined,
  parameters: CallbackParameters,
): CallbackParameters {
  return find(callbackAttacks, attack)?.(parameters) ?? parameters;
}

const tokenRequestAttacks: Attacked<(trapUrl: string) => Response> = {
  "redirect-token": (trapUrl) =>
    new Response(null, { status: 307, headers: { location: trapUrl } }),
  "token-error-html": () =>
    new Response(`<!doctype html><title>Error</title>${hostileText}`, {
      status: 400,
      headers: { "content-type": "text/html" },
    }),
  "token-error-text": () =>
    Response.json({ error: "invalid_request", error_description: hostileText }, { status: 400 }),
};

/** What the token endpoint sends instead of its answer; undefined when the attack is about something else. */
export function attackTokenRequest(
  attack: AuthorizationAttack | undefined,
  trapUrl: string,
): Response | undefined {
  return find(tokenRequestAttacks, attack)?.(trapUrl);
}

const junkToken =
  (makeToken: (token: string) => unknown) =>
  (answer: JsonObject): JsonObject => ({
    ...answer,
    access_token: makeToken(String(answer["access_token"])),
  });

const tokenAttacks: Attacked<(answer: JsonObject) => JsonObject> = {
  "token-junk-crlf": junkToken((token) => `${token}\r\nX-Injected: yes`),
  "token-junk-spaces": junkToken((token) => ` ${token} and more `),
  "token-junk-huge": junkToken(() => "a".repeat(1_024 * 1_024)),
  "token-junk-object": junkToken((token) => ({ token })),
  "token-junk-missing": junkToken(() => undefined),
  "token-junk-type": (answer) => ({ ...answer, token_type: "Bearer\r\nX-Injected: yes" }),
  "token-junk-lifetime": (answer) => ({ ...answer, expires_in: "-1e400" }),
};

/** A successful answer of the token endpoint as the attack has it. */
export function attackTokens(
  attack: AuthorizationAttack | undefined,
  answer: JsonObject,
): JsonObject {
  return find(tokenAttacks, attack)?.(answer) ?? answer;
}
