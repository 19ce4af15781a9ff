import { canonicalJson } from "../../../src/text/canonical-hash.ts";
import { isJsonObject, type JsonObject } from "../../../src/text/json-object.ts";
import type { Pair } from "../compare.ts";
import { kindOf } from "../observation.ts";
import type { Rule } from "../rule.ts";
import { messagesOf } from "../said.ts";

export const connectionRules: readonly Rule[] = [
  {
    id: "noise-fails-the-wait",
    difference:
      "More than 100 notifications that nobody handles during one wait fail that request in the core; the SDK takes any number.",
    reason:
      "A server that talks about everything but what it was asked would keep the host busy for nothing.",
    right: "core",
    explains: ({ pair, aspect, sdk }) => {
      if (countOf(pair, isUnhandled) <= 100) return false;
      // Over HTTP the stream is closed, and what follows is not heard.
      if (aspect === "notification") return sdk !== undefined;
      return /^(outcome|sent)/.test(aspect) && kindOf(pair.core.outcome) === "invalid";
    },
  },
  {
    id: "guessed-answers-end-the-connection",
    difference:
      "More than 100 answers to nothing end the connection in the core; the SDK drops any number.",
    reason: "Whoever sends unasked answers by the hundred may be guessing ids.",
    right: "core",
    explains: ({ pair, aspect }) =>
      /^(outcome|sent|end)/.test(aspect) &&
      pair.all.core.hasEnded &&
      countOf(pair, isUnasked) > 100,
  },
  {
    id: "requests-are-rate-limited",
    difference:
      "The core answers at most 1,000 requests of the server at once and 200 a second, and drops the others; the SDK answers all.",
    reason: "A server must not be able to make the host work and write as fast as it can ask.",
    right: "core",
    explains: ({ pair, aspect, sdk }) =>
      aspect === "answer" && sdk !== undefined && countOf(pair, isRequest) > 1_000,
  },
  {
    id: "notifications-are-passed-on",
    difference:
      "The core passes on every notification of the server; the SDK keeps `notifications/cancelled` to itself and drops one that has an unknown member or parameters that are no object.",
    reason: "Whoever listens decides what matters; what a notification does, it does besides.",
    right: "either",
    explains: ({ pair, aspect, core }) =>
      aspect === "notification" &&
      isJsonObject(core) &&
      (core["method"] === "notifications/cancelled" ||
        oddAskings(pair).some((message) => isPassedOnAs(message, core))),
  },
  {
    id: "early-questions-are-refused",
    difference:
      "A request other than ping that comes before the server's answer to the handshake is refused by the core; the SDK answers it.",
    reason:
      "Servers should not ask before they know what the client offers, and nobody should be bothered by a server that is not connected yet.",
    right: "core",
    explains: ({ pair, aspect, core, sdk }) => {
      const { id } = Object(core ?? sdk) as JsonObject;
      return (
        aspect === "answer" &&
        earlyMessages(pair).some((message) => isJsonObject(message) && message["id"] === id)
      );
    },
  },
  {
    id: "answers-are-given-at-once",
    difference:
      "A ping that arrives together with the end of the connection is still answered by the core; the SDK answers a moment later, when nobody is there any more.",
    reason: "Nothing is gained by waiting.",
    right: "either",
    explains: ({ pair, aspect, core }) => aspect === "answer" && core !== undefined && hasEnd(pair),
  },
  {
    id: "odd-requests-are-answered",
    difference:
      "A request of the server with an unknown member, a fractional id or parameters that are no object is answered by the core; the SDK drops it without an answer.",
    reason: "Who asks with an id waits for an answer, and the answer is the same for all of them.",
    right: "core",
    explains: ({ pair, aspect, core }) =>
      aspect === "answer" &&
      isJsonObject(core) &&
      oddAskings(pair).some(({ id }) => id === core["id"] || isJsonObject(id)),
  },
];

/** Exactly the members that a request or notification may have, of the types they may have. */
function isSoundAsking({ jsonrpc, id, method, params, ...more }: JsonObject): boolean {
  return (
    jsonrpc === "2.0" &&
    typeof method === "string" &&
    (params === undefined || isJsonObject(params)) &&
    (id === undefined || typeof id === "string" || Number.isInteger(id)) &&
    Object.keys(more).length === 0
  );
}

/** What the server said before it had answered `initialize`. */
function earlyMessages({ transcript }: Pair): readonly unknown[] {
  return messagesOf({ reactions: { early: transcript.reactions["initialize#1"] ?? [] } });
}

function oddAskings({ transcript }: Pair): readonly JsonObject[] {
  return messagesOf(transcript)
    .filter((message) => isJsonObject(message))
    .filter((message) => "method" in message && !isSoundAsking(message));
}

/** A message as whoever listens for notifications gets to see it. */
function isPassedOnAs(message: unknown, notification: JsonObject): boolean {
  if (!isJsonObject(message)) return false;
  const { method, params } = message;
  const heard = { method, ...(isJsonObject(params) && { params }) };
  return canonicalJson(heard) === canonicalJson(notification);
}

function hasEnd({ transcript }: Pair): boolean {
  return Object.values(transcript.reactions).some((emissions) =>
    emissions.some((emission) => "end" in emission),
  );
}

function countOf({ transcript }: Pair, isCounted: (message: JsonObject) => boolean): number {
  return messagesOf(transcript).filter((message) => isJsonObject(message) && isCounted(message))
    .length;
}

function isUnhandled({ id, method }: JsonObject): boolean {
  return id === undefined && method === "notifications/example";
}

function isUnasked({ id, method }: JsonObject): boolean {
  return typeof id === "number" && method === undefined;
}

function isRequest({ id, method }: JsonObject): boolean {
  return id !== undefined && method !== undefined;
}
