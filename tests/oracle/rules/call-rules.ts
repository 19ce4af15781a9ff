import { isDeepStrictEqual } from "node:util";

import { isJsonObject, type JsonObject } from "../../../src/protocol/json-object.ts";
import type { Pair } from "../compare.ts";
import type { Rule } from "../rule.ts";
import { labelsOf, messagesOf } from "../said.ts";
import { kindOf } from "./answer-rules.ts";

export const callRules: readonly Rule[] = [
  {
    id: "cancelled-is-not-timed-out",
    difference:
      "A call whose caller aborts it ends as `cancelled` in the core; the SDK rejects it with the code of a timeout.",
    reason: "A user who changed their mind is not a slow server, and nobody should retry for them.",
    right: "core",
    explains: ({ pair: { core, sdk }, aspect }) =>
      aspect === "outcome" &&
      kindOf(core.outcome) === "cancelled" &&
      kindOf(sdk.outcome) === "timeout",
  },
  {
    id: "progress-before-the-answer",
    difference:
      "A progress report that arrives together with the answer after it reaches the caller in the core; in the SDK it is lost, because handlers run a moment later than answers.",
    reason: "It was sent before the answer, and the order of the pipe is the order of events.",
    right: "core",
    explains: ({ pair, aspect, core }) => {
      const reports = reportsOf(pair);
      return aspect === "progress" && reports.every(isSound) && isDeepStrictEqual(core, advancing(reports)) ;
    },
  },
  {
    id: "progress-must-advance",
    difference:
      "A progress report that does not go beyond the last one, or has a token or number of the wrong type, is dropped by the core; the SDK passes on whatever its schema lets through, and turns tokens into numbers.",
    reason:
      "The value must increase with each notification. A report also extends the deadline, so one that does not advance would keep a stuck call alive.",
    right: "core",
    explains: ({ pair, aspect, core }) =>
      aspect === "progress" && isDeepStrictEqual(core, advancing(reportsOf(pair))),
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
      isDeepStrictEqual(core.filter((message) => !("withdrawn" in Object(message))), sdk),
  },
  {
    id: "undeclared-capability-is-not-asked",
    difference:
      "`tools/call` on a server that declared no tools is refused by the core without a message; the SDK sends it by default.",
    reason: "Both sides must respect the capabilities that were negotiated.",
    right: "core",
    explains: ({ pair, aspect, core, sdk }) => {
      // What the server says about a call is not said about one that was not made.
      if (aspect === "notifications" || aspect === "answers")
        return (
          pair.all.core.operations.some(({ outcome }) => kindOf(outcome) === "refused") &&
          isSubsequence(core as readonly unknown[], sdk as readonly unknown[])
        );
      return kindOf(pair.core.outcome) === "refused" && /^(outcome|sent|progress)/.test(aspect);
    },
  },
];

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
    if (typeof progress !== "number" || "as" in Object(progressToken) || progress <= last) return [];
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

function isSubsequence(short: readonly unknown[], long: readonly unknown[]): boolean {
  const rest = long.map((item) => JSON.stringify(item));
  return short.every((item) => {
    const at = rest.indexOf(JSON.stringify(item));
    if (at !== -1) rest.splice(0, at + 1);
    return at !== -1;
  });
}
