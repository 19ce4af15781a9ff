import { isDeepStrictEqual } from "node:util";

import { isJsonObject, type JsonObject } from "../../../src/text/json-object.ts";
import { serverText } from "../../../src/text/untrusted/bounded-text.ts";
import type { Difference } from "../compare.ts";
import { kindOf } from "../observation.ts";
import type { Rule } from "../rule.ts";
import { answersTo, firstAnswers, messagesOf } from "../said.ts";

/** What becomes of an operation and of what was said about it. */
const outcomeAspects = /^(outcome|value\.|failure\.|progress|sent)/;

/** The SDK drops an answer it cannot read and goes on waiting. */
function sdkWaitedOn({ pair, aspect }: Difference): boolean {
  const { outcome } = pair.sdk;
  const hasOthers = answersTo(pair).length > firstAnswers(pair).length;
  // Over HTTP the transport knows that no other answer will come.
  const hasGivenUp = ["timeout", "closed", "invalid", "transport"].includes(kindOf(outcome));
  return outcomeAspects.test(aspect) && (hasOthers || hasGivenUp);
}

/** Exactly a JSON-RPC 2.0 response, with nothing besides. */
function isSound(message: JsonObject): boolean {
  const { jsonrpc, id, ...said } = message;
  const [member, ...more] = Object.keys(said);
  if (jsonrpc !== "2.0" || id === undefined || more.length > 0) return false;
  if (member === "result") return isSoundResult(said["result"]);
  const { error } = said;
  if (member !== "error" || !isJsonObject(error)) return false;
  return Number.isInteger(error["code"]) && typeof error["message"] === "string";
}

function isSoundResult(result: unknown): boolean {
  return isJsonObject(result) && (result["_meta"] === undefined || isJsonObject(result["_meta"]));
}

export const answerRules: readonly Rule[] = [
  {
    id: "strict-ids",
    difference:
      'The core answers request 7 only with 7; the SDK turns ids into numbers, so that "7" or " 0x7 " answers it too.',
    reason:
      "A response must carry the same value as the request, type included. Whoever may guess loosely is easier to mislead, and a bridge that mixes up its ids is better found than helped.",
    right: "core",
    explains: ({ pair, aspect }) => {
      const first = answersTo(pair).find(({ isExact, isDisguised }) => isExact || isDisguised);
      return first?.isDisguised === true && outcomeAspects.test(aspect);
    },
  },
  {
    id: "malformed-answer-fails-at-once",
    difference:
      "An answer with the right id that is no JSON-RPC response (both or neither of result and error, another version, a result that is no object, an error without a code) fails the request at once in the core; the SDK drops it and waits for its whole timeout.",
    reason:
      "The id says which request it was about, and nothing better will come. Failing with the reason takes milliseconds instead of the timeout and tells the user what is wrong with the server.",
    right: "core",
    explains: (difference) => {
      const { pair } = difference;
      return (
        firstAnswers(pair).some(({ message }) => !isReadable(message)) &&
        kindOf(pair.core.outcome) === "invalid" &&
        sdkWaitedOn(difference)
      );
    },
  },
  {
    id: "readable-answer-is-read",
    difference:
      "An answer that is clear in spite of a flaw (a null beside the result or error, an unknown member, an error without text or with a fractional code, a `_meta` that is no object) counts in the core; the SDK drops it and waits for its whole timeout.",
    reason:
      "Serializers that cannot leave a member out write null, and later revisions may add members. What was meant is beyond doubt, so the call need not be lost.",
    right: "either",
    explains: (difference) => {
      const { pair } = difference;
      return (
        firstAnswers(pair).some(({ message }) => !isSound(message) && isReadable(message)) &&
        sdkWaitedOn(difference)
      );
    },
  },
  {
    id: "batched-answer",
    difference:
      "An answer inside of a JSON-RPC batch is read by the core where the negotiated revision has batches (2025-03-26) and fails the request elsewhere; the SDK knows no batches and waits for its whole timeout.",
    reason:
      "Only 2025-03-26 allowed batches, and there a client must accept them. Elsewhere the answer is malformed and failing at once is better than waiting.",
    right: "core",
    explains: (difference) => {
      const { pair, aspect, core } = difference;
      // What else is in a batch is heard by the core only.
      if (aspect === "notification")
        return core !== undefined && messagesOf(pair.transcript).some(Array.isArray);
      return firstAnswers(pair).some(({ isInBatch }) => isInBatch) && sdkWaitedOn(difference);
    },
  },
  {
    id: "errors-are-passed-on",
    difference:
      "Code and data of an error come out of the core as the server sent them; the SDK has classes of its own for some codes, turns -32002 into -32602 and leaves members of the data out.",
    reason: "Whoever reads an error should find what the server's documentation says.",
    right: "core",
    explains: ({ pair, aspect, core }) => {
      const errors = firstAnswers(pair).map(({ message }) => message["error"]);
      const member = aspect === "failure.code" ? "code" : "data";
      return (
        /^failure\.(code|data)$/.test(aspect) &&
        errors.some((error) => isJsonObject(error) && isDeepStrictEqual(error[member], core))
      );
    },
  },
  {
    id: "results-are-passed-on",
    difference:
      "The result of a request for any method comes out of the core as the server sent it; the SDK takes `resultType` off in the 2025 era, too.",
    reason: "The member means nothing there, so it is the server's own.",
    right: "either",
    explains: ({ pair, aspect, core }) =>
      pair.operation?.do === "request" &&
      pair.transcript.era === "legacy" &&
      aspect === "value.resultType" &&
      core !== undefined,
  },
  {
    id: "input-that-was-not-offered",
    difference:
      "A modern server that asks for input the client did not offer has broken the protocol for the core; the SDK says that it lacks the capability.",
    reason: "Servers must not ask for what the client does not declare.",
    right: "either",
    explains: ({ pair, aspect }) =>
      aspect === "outcome" &&
      kindOf(pair.core.outcome) === "invalid" &&
      kindOf(pair.sdk.outcome) === "refused" &&
      firstAnswers(pair).some(
        ({ message: { result } }) => isJsonObject(result) && isJsonObject(result["inputRequests"]),
      ),
  },
  {
    id: "fewer-rounds-of-input",
    difference:
      "A modern server that keeps asking for input is given up after 8 rounds by the core and after 10 by the SDK.",
    reason: "The specification names no number. Each round may bother a person.",
    right: "either",
    explains: ({ pair, aspect, core, sdk }) =>
      aspect === "sent" &&
      kindOf(pair.core.outcome) === "invalid" &&
      kindOf(pair.sdk.outcome) === "invalid" &&
      Array.isArray(core) &&
      Array.isArray(sdk) &&
      core.length === 9 &&
      sdk.length === 11 &&
      isDeepStrictEqual(sdk.slice(0, core.length), core),
  },
  {
    id: "any-answer-to-a-ping-is-one",
    difference:
      "A ping that is answered with a result that is not empty has succeeded for the core; the SDK refuses the answer.",
    reason: "The question was whether the server is there.",
    right: "either",
    explains: ({ pair, aspect }) =>
      pair.operation?.do === "ping" &&
      aspect === "outcome" &&
      pair.core.outcome.ok &&
      kindOf(pair.sdk.outcome) === "invalid",
  },
  {
    id: "error-text-is-cleaned",
    difference:
      "The text of a server's error comes out of the core without control characters and credentials, on one line and cut to a length; the SDK passes it on as it came.",
    reason:
      "Error messages reach terminals, logs and models. `data` is kept whole, so nothing a program reads is lost.",
    right: "either",
    explains: ({ aspect, core, sdk }) =>
      aspect === "failure.message" && typeof sdk === "string" && core === serverText(sdk, 2_000),
  },
];

function isReadable(message: JsonObject): boolean {
  const { jsonrpc, result } = message;
  const error = message["error"] ?? undefined;
  if (jsonrpc !== "2.0") return false;
  if (error === undefined) return isJsonObject(result);
  return (
    (result ?? undefined) === undefined && isJsonObject(error) && typeof error["code"] === "number"
  );
}
