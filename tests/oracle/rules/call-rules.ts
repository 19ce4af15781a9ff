import type { Difference } from "../compare.ts";
import type { Rule } from "../rule.ts";
import { messagesOf } from "../said.ts";
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
    explains: ({ pair, aspect, core, sdk }) =>
      aspect === "progress" &&
      Array.isArray(core) &&
      Array.isArray(sdk) &&
      isSubsequence(sdk, core) &&
      core.every((report) => wasReported(pair, report)),
  },
  {
    id: "progress-must-advance",
    difference:
      "A progress report that does not go beyond the last one, or has a token or number of the wrong type, is dropped by the core; the SDK passes on whatever its schema lets through, and turns tokens into numbers.",
    reason:
      "The value must increase with each notification. A report also extends the deadline, so one that does not advance would keep a stuck call alive.",
    right: "core",
    explains: ({ aspect, core, sdk }) =>
      aspect === "progress" &&
      Array.isArray(core) &&
      Array.isArray(sdk) &&
      core.length < sdk.length &&
      isSubsequence(core, sdk),
  },
  {
    id: "undeclared-capability-is-not-asked",
    difference:
      "`tools/call` on a server that declared no tools is refused by the core without a message; the SDK sends it by default.",
    reason: "Both sides must respect the capabilities that were negotiated.",
    right: "core",
    explains: ({ pair: { core }, aspect }) =>
      /^(outcome|sent|progress)/.test(aspect) && kindOf(core.outcome) === "refused",
  },
];

function isSubsequence(short: readonly unknown[], long: readonly unknown[]): boolean {
  const rest = long.map((item) => JSON.stringify(item));
  return short.every((item) => {
    const at = rest.indexOf(JSON.stringify(item));
    if (at !== -1) rest.splice(0, at + 1);
    return at !== -1;
  });
}

function wasReported({ transcript }: Difference["pair"], report: unknown): boolean {
  return messagesOf(transcript).some((message) => {
    const { method, params } = Object(message) as { method?: unknown; params?: object };
    return method === "notifications/progress" && hasAll(Object(params), Object(report));
  });
}

function hasAll(params: Readonly<Record<string, unknown>>, report: Readonly<Record<string, unknown>>) {
  return Object.entries(report).every(([name, value]) => params[name] === value);
}
