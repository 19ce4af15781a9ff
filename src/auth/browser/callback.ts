import { timingSafeEqual } from "node:crypto";

import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { hostKind } from "../../isolation/network/network-policy.ts";
import type { LoopbackListener } from "../../listener/loopback-listener.ts";

/** What a browser brought back. */
export type CallbackAnswer = URLSearchParams;

const defaultPath = "/callback";

/** A listener for the one answer of one sign-in. */
export interface Callback {
  /** What the browser is told to return to. */
  readonly redirectUri: string;
  /** Whether anybody listens there; otherwise the address has to be pasted. */
  readonly isListening: boolean;
  /** How many answers came with a state that belongs to no sign-in of ours. */
  readonly strayAnswers: number;
  /** Resolves with the first answer that carries `state`; later ones are refused. */
  answer(state: string, done: (answer: CallbackAnswer) => Promise<CallbackPage>): void;
  /** Reads a pasted address; throws for one that is not the answer to this sign-in. */
  parse(pasted: string, state: string): CallbackAnswer;
  /** Stops listening; the page that is being shown is sent to its end. */
  close(): Promise<void>;
}

/** What the person's browser shows at the end. */
export interface CallbackPage {
  readonly isDone: boolean;
  readonly text: string;
}

interface CallbackOptions {
  readonly serverName: string;
  /** The fixed address of an entry. */
  readonly redirectUri?: string | undefined;
  readonly callbackPort?: number | undefined;
  /** The address of an earlier registration: taken again when its port is free. */
  readonly earlier?: string | undefined;
}

/**
 * Opens the address that a browser returns to. A port that an entry fixes must be free; one that was only used before
 * may be taken by somebody else meanwhile, and then any other will do.
 */
export async function openCallback(options: CallbackOptions): Promise<Callback> {
  const { redirectUri, callbackPort, earlier } = options;
  if (redirectUri !== undefined) return await openAt(fixedAddress(redirectUri), options);
  if (callbackPort !== undefined)
    return await openAt(`http://127.0.0.1:${callbackPort}${defaultPath}`, options);
  if (earlier !== undefined)
    try {
      return await openAt(fixedAddress(earlier), options);
    } catch (error) {
      if (!McpError.is(error, "config_invalid")) throw error;
    }
  return await openAt(undefined, options);
}

function fixedAddress(text: string): string {
  if (URL.canParse(text)) return text;
  throw createError("config_invalid", '"auth.redirectUri" is not a URL');
}

async function openAt(
  address: string | undefined,
  { serverName }: CallbackOptions,
): Promise<Callback> {
  const url = new URL(address ?? `http://127.0.0.1:0${defaultPath}`);
  const canListen = url.protocol === "http:" && hostKind(url.hostname) === "loopback";
  const waiting = new CallbackWait(serverName, url.pathname);
  let listener: LoopbackListener | undefined;
  if (canListen) {
    const port = address === undefined ? 0 : Number(url.port || "80");
    // An HTTP server takes 25 ms to load, and a token that is still good needs none.
    const { listenOnLoopback } = await import("../../listener/loopback-listener.ts");
    listener = await listenOnLoopback({ port, fetch: (request) => waiting.respond(request) });
  }
  const redirectUri = address ?? `http://127.0.0.1:${listener?.port ?? 0}${defaultPath}`;
  return {
    redirectUri,
    isListening: listener !== undefined,
    get strayAnswers() {
      return waiting.strayAnswers;
    },
    answer: (state, done) => waiting.expect(state, done),
    parse: (pasted, state) => parsePasted(pasted, { redirectUri, state, serverName }),
    close: async () => await listener?.close(),
  };
}

/** Answers what comes to the address: once what was waited for, and a refusal to everything else. */
class CallbackWait {
  readonly #serverName: string;
  readonly #path: string;
  #expected:
    | { readonly state: string; done(answer: CallbackAnswer): Promise<CallbackPage> }
    | undefined;
  strayAnswers = 0;

  constructor(serverName: string, path: string) {
    this.#serverName = serverName;
    this.#path = path;
  }

  expect(state: string, done: (answer: CallbackAnswer) => Promise<CallbackPage>): void {
    this.#expected = { state, done };
  }

  async respond(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== this.#path) return page(404, false, "There is nothing here.");
    if (request.method !== "GET") return page(405, false, "This address is only for a browser.");
    const expected = this.#expected;
    if (expected === undefined || !isState(searchParams, expected.state)) {
      this.strayAnswers += 1;
      return page(400, false, "This does not belong to a sign-in that is under way.");
    }
    this.#expected = undefined;
    const { isDone, text } = await expected.done(searchParams);
    return page(isDone ? 200 : 400, isDone, `${this.#serverName}: ${text}`);
  }
}

/** Whether an answer carries exactly this state, once. Compared in constant time: it is what keeps others out. */
function isState(answer: CallbackAnswer, state: string): boolean {
  const [given = "", ...more] = answer.getAll("state");
  const [one, other] = [Buffer.from(given), Buffer.from(state)];
  return more.length === 0 && one.length === other.length && timingSafeEqual(one, other);
}

interface Pasted {
  readonly redirectUri: string;
  readonly state: string;
  readonly serverName: string;
}

function parsePasted(pasted: string, { redirectUri, state, serverName }: Pasted): CallbackAnswer {
  const text = pasted.trim();
  const refuse = (problem: string): McpError =>
    createError("auth_redirect_mismatch", `what was pasted ${problem}`, {
      serverName,
      hint: `paste the whole address that the browser shows at the end; it begins with ${redirectUri}`,
    });
  if (!URL.canParse(text)) throw refuse("is not an address");
  const url = new URL(text);
  const expected = new URL(redirectUri);
  if (url.origin !== expected.origin || url.pathname !== expected.pathname)
    throw refuse("is not the address that the browser was told to return to");
  if (!isState(url.searchParams, state)) throw refuse("belongs to another sign-in");
  return url.searchParams;
}

const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  // The address of this page holds the code.
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

function page(status: number, isDone: boolean, text: string): Response {
  const title = isDone ? "Signed in" : "Not signed in";
  const close = isDone ? "<p>You can close this window.</p>" : "";
  const body = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width">
<style>:root{color-scheme:light dark}body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1.5rem}</style>
</head><body><h1>${title}</h1><p>${escapeHtml(text)}</p>${close}</body></html>
`;
  return new Response(body, { status, headers: pageHeaders });
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}
