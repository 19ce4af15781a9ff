import fc from "fast-check";

import type { JsonObject } from "../../../src/text/json-object.ts";
import type { Emission, Label } from "../transcript.ts";
import {
  answerFlaw,
  errorAnswerFlaw,
  modernPageFlaw,
  pageFlaw,
  progressFlaw,
  resultTypeFlaw,
  strayJson,
  strayText,
  toolFlaw,
  toolResultFlaw,
} from "./flaws.ts";
import { answer, refusal, type ScriptBuilder } from "./script-builder.ts";
import {
  anyObject,
  notification,
  rpcError,
  serverQuestion,
  serverRequest,
  tool,
  toolName,
  toolResult,
} from "./valid-values.ts";

/** A stretch of a conversation: adds operations and what the server does about them. */
export type Episode = (script: ScriptBuilder) => void;

/** What a server does about the request with this label. */
export type Reaction = (label: Label, script: ScriptBuilder) => readonly Emission[];

const nothing: Reaction = () => [];

// Chatter: what a server may say before it answers.

const notifying: fc.Arbitrary<Reaction> = notification.map((message) => () => [
  { send: { jsonrpc: "2.0", ...message } },
]);

const asking: fc.Arbitrary<Reaction> = serverRequest.map((message) => (_label, script) => [
  { send: { jsonrpc: "2.0", id: `ask-${script.freshNumber()}`, ...message } },
]);

/** A report of progress under the request's token, or under what it is disguised as. */
function progress(params: JsonObject, as?: "text" | "hex"): Reaction {
  return (label) => [
    {
      send: {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: { $token: label, ...(as !== undefined && { as }) }, ...params },
      },
    },
  ];
}

const report = fc.record(
  {
    progress: fc.integer({ min: 0, max: 3 }),
    total: fc.constant(3),
    message: fc.constant("half way"),
  },
  { requiredKeys: ["progress"] },
);

/** Each report goes beyond the one before. */
const progressing: fc.Arbitrary<Reaction> = report.map(
  (params) => (label, script) =>
    progress({ ...params, progress: script.freshNumber() })(label, script),
);

const oddProgress: fc.Arbitrary<Reaction> = fc.oneof(
  fc.tuple(report, progressFlaw).map(([params, flaw]) => progress(flaw(params))),
  fc.tuple(report, fc.constantFrom("text", "hex")).map(([params, as]) => progress(params, as)),
);

const straying: fc.Arbitrary<Reaction> = fc.oneof(
  strayJson.map((send): Reaction => () => [{ send }]),
  strayText.map((text): Reaction => () => [{ text }]),
);

/** What a server may say to someone it knows nothing about yet. */
export const smallTalk = fc.oneof(notifying, asking);
const chatter = fc.oneof(smallTalk, progressing);
const oddChatter = fc.oneof(chatter, oddProgress, straying);

// Answers.

/** What a correct server answers, as a message that is only short of its id. */
function answering(message: (label: Label, script: ScriptBuilder) => JsonObject): Reaction {
  return (label, script) => [{ send: message(label, script) }];
}

const callAnswer: fc.Arbitrary<Reaction> = fc.oneof(
  {
    weight: 4,
    arbitrary: toolResult.map((result) =>
      answering((label, script) => answer(label, script.complete(result))),
    ),
  },
  rpcError.map((error) => answering((label) => refusal(label, error))),
);

const oddCallAnswer: fc.Arbitrary<Reaction> = fc.oneof(
  fc
    .tuple(toolResult, toolResultFlaw)
    .map(([result, flaw]) =>
      answering((label, script) => answer(label, script.complete(flaw(result)))),
    ),
  fc
    .tuple(toolResult, answerFlaw)
    .map(([result, flaw]) =>
      answering((label, script) => flaw(answer(label, script.complete(result)))),
    ),
  fc
    .tuple(rpcError, errorAnswerFlaw)
    .map(([error, flaw]) => answering((label) => flaw(refusal(label, error)))),
  fc
    .tuple(toolResult, resultTypeFlaw)
    .map(([result, flaw]) =>
      answering((label, script) => answer(label, flaw(script.complete(result)))),
    ),
  fc.tuple(toolResult, fc.constantFrom("text", "hex", "beyond")).map(([result, as]) =>
    answering((label, script) => ({
      jsonrpc: "2.0",
      id: { $id: label, as },
      result: script.complete(result),
    })),
  ),
  toolResult.map((result): Reaction => (label, script) => [
    { send: [answer(label, script.complete(result))] },
  ]),
  fc.constant(nothing),
  fc.constant<Reaction>(() => [{ end: true }]),
);

function inTurn(reactions: readonly Reaction[]): Reaction {
  return (label, script) => reactions.flatMap((reaction) => reaction(label, script));
}

/** A whole reaction to a call: chatter, the answer, and sometimes a second one. */
function callReaction(isOdd: boolean): fc.Arbitrary<Reaction> {
  const before = fc.array(isOdd ? oddChatter : chatter, { maxLength: 3 });
  const answers = isOdd
    ? fc.oneof(
        { weight: 3, arbitrary: oddCallAnswer },
        fc.tuple(oddCallAnswer, callAnswer).map(inTurn),
        fc.tuple(callAnswer, callAnswer).map(inTurn),
        callAnswer,
      )
    : callAnswer;
  return fc.tuple(before, answers).map(([chat, answered]) => inTurn([...chat, answered]));
}

// Episodes.

function callEpisode(isOdd: boolean): fc.Arbitrary<Episode> {
  return fc
    .record({
      name: toolName,
      args: anyObject,
      progress: fc.boolean(),
      reaction: callReaction(isOdd),
    })
    .map(({ name, args, progress: wantsProgress, reaction }) => (script) => {
      const label = script.expect("tools/call");
      script.operate({ do: "callTool", name, args, ...(wantsProgress && { progress: true }) });
      script.react(label, ...reaction(label, script));
    });
}

/** Several calls under way, answered in another order than they were made. */
const concurrentEpisode: fc.Arbitrary<Episode> = fc
  .array(fc.record({ name: toolName, reaction: callAnswer, rank: fc.nat(9) }), {
    minLength: 2,
    maxLength: 4,
  })
  .map((calls) => (script) => {
    const made = calls.map((call) => ({ ...call, label: script.expect("tools/call") }));
    for (const { name } of made)
      script.operate({ do: "callTool", name, args: {}, concurrent: true });
    const last = made.at(-1)?.label ?? "";
    for (const { label, reaction } of made.toSorted((a, b) => a.rank - b.rank))
      script.react(last, ...reaction(label, script));
  });

/** A modern server that wants some rounds of input before it answers a call. */
const questionEpisode: fc.Arbitrary<Episode> = fc
  .record({
    rounds: fc.array(
      fc.record({ questions: fc.array(serverQuestion, { maxLength: 2 }), state: fc.string() }),
      { maxLength: 3 },
    ),
    reaction: callAnswer,
  })
  .map(({ rounds, reaction }) => (script) => {
    script.operate({ do: "callTool", name: "alpha", args: { x: 1 } });
    for (const { questions, state } of script.era === "modern" ? rounds : []) {
      const label = script.expect("tools/call");
      const asked = script.offersInput ? questions : [];
      const inputRequests = Object.fromEntries(asked.map((question, at) => [`q${at}`, question]));
      const members = { ...(asked.length > 0 && { inputRequests }), requestState: state };
      script.react(label, { send: answer(label, { resultType: "input_required", ...members }) });
    }
    const last = script.expect("tools/call");
    script.react(last, ...reaction(last, script));
  });

/** The caller gives up, or had given up before it called; the server answers all the same. */
const abortEpisode: fc.Arbitrary<Episode> = fc
  .record({ isEarly: fc.boolean(), late: fc.option(callAnswer, { nil: undefined }) })
  .map(({ isEarly, late }) => (script) => {
    if (isEarly) {
      script.operate({ do: "callTool", name: "alpha", args: {}, aborted: true });
      return;
    }
    const label = script.expect("tools/call");
    const operation = script.operate({ do: "callTool", name: "alpha", args: {}, concurrent: true });
    script.operate({ do: "abort", operation });
    if (late === undefined) return;
    const next = script.expect("example/next");
    script.operate({ do: "request", method: "example/next" });
    script.react(next, ...late(label, script), { send: answer(next, script.complete({})) });
  });

/** Reports of progress while time passes keep a call alive; without them it is given up. */
const patienceEpisode: fc.Arbitrary<Episode> = fc
  .record({ isReported: fc.boolean(), reaction: callAnswer })
  .map(({ isReported, reaction }) => (script) => {
    const label = script.expect("tools/call");
    script.operate({
      do: "callTool",
      name: "alpha",
      args: {},
      progress: true,
      concurrent: true,
    });
    script.operate({ do: "pass", ms: 600 });
    const tick = script.expect("example/tick");
    script.operate({ do: "request", method: "example/tick" });
    const reported = isReported ? progress({ progress: 1 })(label, script) : [];
    script.react(tick, ...reported, { send: answer(tick, script.complete({})) });
    script.operate({ do: "pass", ms: 600 });
    const next = script.expect("example/tick");
    script.operate({ do: "request", method: "example/tick" });
    script.react(next, ...reaction(label, script), { send: answer(next, script.complete({})) });
  });

function listEpisode(isOdd: boolean): fc.Arbitrary<Episode> {
  const tools = fc.array(
    isOdd ? fc.tuple(tool, toolFlaw).map(([value, flaw]) => flaw(value)) : tool,
    { maxLength: 3 },
  );
  const same = fc.constant((page: JsonObject) => page);
  const mostlySame = (flaw: typeof pageFlaw) => fc.oneof({ weight: 4, arbitrary: same }, flaw);
  const page = fc.record({
    tools: fc.tuple(tools, fc.array(tool, { maxLength: 2 })),
    flaw: isOdd ? mostlySame(pageFlaw) : same,
    modernFlaw: isOdd ? mostlySame(modernPageFlaw) : same,
  });
  return fc.array(page, { minLength: 1, maxLength: 3 }).map((pages) => (script) => {
    script.operate({ do: "listTools" });
    let cursor: string | undefined;
    for (const [index, { tools: listed, flaw, modernFlaw }] of pages.entries()) {
      const label = script.expect("tools/list", cursor);
      cursor = index === pages.length - 1 ? undefined : `page ${script.freshNumber()}`;
      const plain = {
        tools: listed.flat(),
        ...(cursor !== undefined && { nextCursor: cursor }),
      };
      const sent =
        script.era === "modern"
          ? modernFlaw({ resultType: "complete", ...plain, ttlMs: 0, cacheScope: "private" })
          : plain;
      script.react(label, { send: answer(label, flaw(sent)) });
    }
  });
}

const requestEpisode: fc.Arbitrary<Episode> = fc
  .record({
    params: anyObject,
    result: fc.option(anyObject, { nil: undefined }),
    error: rpcError,
    chat: fc.array(chatter, { maxLength: 2 }),
  })
  .map(({ params, result, error, chat }) => (script) => {
    const label = script.expect("example/anything");
    script.operate({ do: "request", method: "example/anything", params });
    const message =
      result === undefined ? refusal(label, error) : answer(label, script.complete(result));
    script.react(label, ...inTurn(chat)(label, script), { send: message });
  });

const pingEpisode: fc.Arbitrary<Episode> = fc
  .option(rpcError, { nil: undefined, freq: 4 })
  .map((error) => (script) => {
    const method = script.era === "modern" ? "server/discover" : "ping";
    const label = script.expect(method);
    script.operate({ do: "ping" });
    const result =
      script.era === "modern"
        ? {
            resultType: "complete",
            supportedVersions: ["2026-07-28"],
            capabilities: { tools: {} },
            ttlMs: 0,
            cacheScope: "private",
          }
        : {};
    script.react(label, {
      send: error === undefined ? answer(label, result) : refusal(label, error),
    });
  });

/** The client closes while a call is under way, and is used once more. */
const closeEpisode: fc.Arbitrary<Episode> = fc.constant((script) => {
  script.expect("tools/call");
  script.operate({ do: "callTool", name: "alpha", args: {}, concurrent: true });
  script.operate({ do: "close" });
  script.operate({ do: "callTool", name: "beta", args: {} });
});

/** By the protocol's own rules. */
export const validEpisode: fc.Arbitrary<Episode> = fc.oneof(
  { weight: 4, arbitrary: callEpisode(false) },
  { weight: 3, arbitrary: listEpisode(false) },
  { weight: 2, arbitrary: concurrentEpisode },
  questionEpisode,
  requestEpisode,
  pingEpisode,
  abortEpisode,
  patienceEpisode,
);

/** Nearly so. */
export const oddEpisode: fc.Arbitrary<Episode> = fc.oneof(
  { weight: 5, arbitrary: callEpisode(true) },
  { weight: 3, arbitrary: listEpisode(true) },
  closeEpisode,
);
