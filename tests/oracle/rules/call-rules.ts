import { isDeepStrictEqual } from "node:util";

import { isJsonObject, type JsonObject } from "../../../src/text/json-object.ts";
import type { Pair } from "../compare.ts";
import { kindOf } from "../observation.ts";
import type { Rule } from "../rule.ts";
import { firstAnswers, labelsOf, messagesOf } from "../said.ts";

export const callRules: readonly Rule[] = [
  {
    id: "cancelled-is-not-timed-out",
    difference:
      "A call whose caller aborts it ends as `cancelled` in the core; the SDK rejects it with the code of a timeout.",
    reason: "A user who changed their mind is not a slow server, and nobody should retry for them.",
    right: "core",
    explains: ({ pair, aspect }) =>
      aspect === "outcome" &&
      isAborted(pair) &&
      kindOf(pair.core.outcome) === "cancelled" &&
      kindOf(pair.sdk.outcome) === "timeout",
  },
  {
    id: "progress-before-the-answer",
    difference:
      "A progress report that arrives together with the answer after it reaches the caller in the core; in the SDK it is lost, because handlers run a moment later than answers.",
    reason: "It was sent before the answer, and the order of the pipe is the order of events.",
    right: "core",
    explains: ({ pair, aspect, core, sdk }) => {
      const reports = reportsOf(pair);
      return (
        aspect === "progress" &&
        reports.every(isSound) &&
        isDeepStrictEqual(core, advancing(reports)) &&
        isSubsequence(sdk, core)
      );
    },
  },
  {
    id: "progress-must-advance",
    difference:
      "A progress report that does not go beyond the last one, or has a token or number of the wrong type, is dropped by the core; the SDK passes on whatever its schema lets through, and turns tokens into numbers.",
    reason:
      "The value must increase with each notification. A report also extends the deadline, so one that does not advance would keep a stuck call alive.",
    right: "core",
    explains: ({ pair, aspect, core }) => {
      const reports = reportsOf(pair);
      return (
        aspect === "progress" && reports.length > 0 && isDeepStrictEqual(core, advancing(reports))
      );
    },
  },
  {
    id: "rounds-are-not-progress",
    difference:
      "The SDK reports each round of input that a modern server asks for as progress of the call; the core passes on what the server reports.",
    reason: "The numbers would not fit the server's own, which must increase.",
    right: "core",
    explains: ({ pair, aspect, core }) =>
      aspect === "progress" &&
      isDeepStrictEqual(core, advancing(reportsOf(pair))) &&
      firstAnswers(pair).some(
        ({ message: { result } }) =>
          isJsonObject(result) && result["resultType"] === "input_required",
      ),
  },
  {
    id: "a-given-up-stream-is-closed",
    difference:
      "Over HTTP in the 2025 era the core ends the response stream of a request it has given up, besides sending `notifications/cancelled`; the SDK leaves the stream open.",
    reason:
      "The notification is what cancels; the stream only holds a connection that nobody reads from any more.",
    right: "either",
    explains: ({ pair, aspect, core, sdk }) =>
      aspect === "sent" &&
      pair.transcript.era === "legacy" &&
      Array.isArray(core) &&
      isDeepStrictEqual(
        core.filter((message) => !("withdrawn" in Object(message))),
        sdk,
      ),
  },
  {
    id: "kept-results-serve-every-request",
    difference:
      "What the server lets a client keep is used again by the core for every request of the modern era; the SDK does so in its list and read methods only, not in `request`.",
    reason: "The time to live belongs to the result, not to the name of a method of the client.",
    right: "either",
    explains: ({ pair, aspect }) =>
      pair.operation?.do === "request" &&
      pair.transcript.era === "modern" &&
      /^(sent|value\.)/.test(aspect) &&
      pair.core.outcome.ok &&
      pair.core.sent.length === 0 &&
      pair.sdk.sent.length === 1,
  },
  {
    id: "no-vain-repetition",
    difference:
      "A call that a modern server refuses with -32020 (header mismatch) is sent again by the core only if the list of tools, fetched anew, asks for other headers; the SDK sends it again in any case.",
    reason: "The same message with the same headers would be refused for the same reason.",
    right: "core",
    explains: ({ pair, aspect }) => {
      const [refused] = firstAnswers(pair);
      const { error } = refused?.message ?? {};
      return (
        /^(outcome|sent)/.test(aspect) &&
        isJsonObject(error) &&
        error["code"] === -32_020 &&
        callsIn(pair.core) === 1 &&
        callsIn(pair.sdk) === 2
      );
    },
  },
  {
    id: "undeclared-capability-is-not-asked",
    difference:
      "`tools/call` on a server that declared no tools is refused by the core without a message; the SDK sends it by default.",
    reason: "Both sides must respect the capabilities that were negotiated.",
    right: "core",
    explains: ({ pair, aspect, sdk }) => {
      // What the server says about a call is not said about one that was not made.
      if (aspect === "notification" || aspect === "answer")
        return (
          sdk !== undefined &&
          pair.all.core.operations.some(({ outcome }) => kindOf(outcome) === "refused")
        );
      return kindOf(pair.core.outcome) === "refused" && /^(outcome|sent|progress)/.test(aspect);
    },
  },
];

function callsIn({ sent }: Pair["core"]): number {
  return sent.filter(({ method }) => method === "tools/call").length;
}

function isAborted({ transcript, place, operation }: Pair): boolean {
  return (
    (operation?.do === "callTool" && operation.aborted === true) ||
    transcript.operations.some((other) => other.do === "abort" && other.operation === place)
  );
}

/** What the server sent as progress of an operation, with whatever it took for the token. */
function reportsOf(pair: Pair): readonly JsonObject[] {
  const labels = labelsOf(pair);
  return messagesOf(pair.transcript).flatMap((message) => {
    const { method, params } = Object(message) as JsonObject;
    if (method !== "notifications/progress" || !isJsonObject(params)) return [];
    const { $token } = Object(params["progressToken"]) as JsonObject;
    return labels.includes($token as string) ? [params] : [];
  });
}

function isSound({ progressToken, progress, total = 0, message = "" }: JsonObject): boolean {
  return (
    typeof progress === "number" &&
    typeof total === "number" &&
    typeof message === "string" &&
    !("as" in Object(progressToken))
  );
}

/** The reports that count: under the very token, with a number, and each beyond the one before. */
function advancing(reports: readonly JsonObject[]): readonly JsonObject[] {
  let last = Number.NEGATIVE_INFINITY;
  return reports.flatMap(({ progressToken, progress, total, message }) => {
    if (typeof progress !== "number" || "as" in Object(progressToken) || progress <= last)
      return [];
    last = progress;
    return [
      {
        progress,
        ...(typeof total === "number" && { total }),
        ...(typeof message === "string" && { message }),
      },
    ];
  });
}

/** Whether `short` is `long` with some of its items left out. */
function isSubsequence(short: unknown, long: unknown): boolean {
  if (!Array.isArray(short) || !Array.isArray(long)) return false;
  const rest = long.map((item) => JSON.stringify(item));
  return short.every((item) => {
    const at = rest.indexOf(JSON.stringify(item));
    if (at !== -1) rest.splice(0, at + 1);
    return at !== -1;
  });
}
