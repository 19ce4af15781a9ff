import { describe, expect, it } from "vitest";

import { listed, scriptedJudge } from "../../../tests/fixtures/agent/scripted-judge.ts";
import { settled } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { deferred } from "../../../tests/host/deferred.ts";
import type { CallableTool, NativeCallable } from "../../call/call-contract.ts";
import { defaultLimits } from "../../config/keys/limits.ts";
import { createError } from "../../errors/families.ts";
import type { HostEvent } from "../../events/host-event.ts";
import type { ToolGrants } from "../../grants/tool-grants.ts";
import type { ConfirmAnswer, ConfirmQuestion, Human } from "../../human/human.ts";
import { CallConsent } from "./call-consent.ts";

type Answer = ConfirmAnswer | Promise<ConfirmAnswer>;

/** The consent of one session whose person gives these answers; `undefined` is a session without a person. */
async function scriptedConsent(
  answers: Answer[] | undefined,
  look: (question: ConfirmQuestion) => void = () => {},
) {
  const world = await scriptedJudge();
  const judge = world.judgeOf();
  const questions: ConfirmQuestion[] = [];
  const shown: AbortSignal[] = [];
  const human: Human | undefined = answers && {
    confirm: async (question, { signal }) => {
      questions.push(question);
      shown.push(signal);
      look(question);
      return (await answers.shift()) ?? "no";
    },
  };
  const told: HostEvent[] = [];
  world.events.on("*", (event) => void told.push(event));
  const closing = new AbortController();
  const create = (grants: Pick<ToolGrants, "grant"> = world.grants) =>
    new CallConsent({
      agent: "a",
      sessionId: "s",
      human,
      judge,
      grants: grants as ToolGrants,
      events: world.events,
      clock: world.clock,
      limits: defaultLimits,
      closing: closing.signal,
    });
  const consent = create();
  const ask = (tool: CallableTool, signal?: AbortSignal, args: object = { path: "/a" }) => {
    const argumentsText = JSON.stringify(args);
    const call = { callId: "c", argumentsText, signal };
    return consent.ask({ tool }, args as Record<string, unknown>, call);
  };
  return { ...world, judge, questions, shown, told, closing, create, ask };
}

const who = { sessionId: "s", callId: "c", agent: "a" };

describe("the question about a call", () => {
  it("PRM-09: says what would be called with what, and what may be answered", async () => {
    const { ask, tool, questions, told } = await scriptedConsent(["once"]);
    expect(await ask(tool("write"))).toBe(true);
    const [question] = questions;
    expect(question).toMatchObject({
      kind: "tool-call",
      serverName: "files",
      toolName: "write",
      agent: "a",
      arguments: { path: "/a" },
      argumentsText: { text: '{"path":"/a"}', omittedChars: 0 },
      isDestructive: false,
      answers: ["no", "once", "tool-session", "server-session", "tool-always", "server-always"],
    });
    const about = { ...who, serverName: "files", toolName: "write", at: 0 };
    expect(told).toStrictEqual([
      { type: "consent-asked", ...about },
      { type: "consent-granted", ...about, answer: "once" },
    ]);
  });

  it("about a destructive tool offers no answer that covers the next call", async () => {
    const { ask, tool, questions, judge, told } = await scriptedConsent(["server-session"]);
    expect(await ask(tool("drop"))).toBe(true);
    expect(questions).toMatchObject([{ isDestructive: true, answers: ["no", "once"] }]);
    // A yes that reaches too far is one to this call.
    expect(told.at(-1)).toMatchObject({ type: "consent-granted", answer: "once" });
    expect(judge.judge(tool("write")).consent).toBe("ask");
  });

  it("about content says so", async () => {
    const { ask, tool, questions } = await scriptedConsent(["once"]);
    await ask({ ...tool("read"), isContent: true });
    expect(questions).toMatchObject([{ kind: "content" }]);
  });

  it("about a tool of the program names no server, and covers the session at most", async () => {
    const { ask, tool, questions, judge, told } = await scriptedConsent(["tool-session", "no"]);
    const { serverName: _, listed: __, ...rest } = tool("write");
    const native = {
      ...rest,
      serverName: undefined,
      needsConsent: true,
      originalName: "own",
    } as unknown as NativeCallable;
    expect(await ask(native)).toBe(true);
    expect(questions).toMatchObject([
      { kind: "tool-call", toolName: "own", answers: ["no", "once", "tool-session"] },
    ]);
    expect(questions[0]).not.toHaveProperty("serverName");
    expect(told[0]).toMatchObject({ serverName: null, toolName: "own" });
    expect(judge.judgeNative(native).consent).toBe("tool-allowed");
    expect(await ask(native)).toBe(true);
    expect(questions).toHaveLength(1);
  });
});

describe("the answer", () => {
  it.each<[ConfirmAnswer, string, string]>([
    ["once", "ask", "ask"],
    ["tool-session", "tool-allowed", "ask"],
    ["server-session", "server-allowed", "server-allowed"],
    ["tool-always", "grant", "ask"],
    ["server-always", "grant", "grant"],
  ])("PRM-09: %s counts as %s for the tool and %s for the others", async (answer, own, others) => {
    const { ask, tool, judge, judgeOf, grants, told } = await scriptedConsent([answer]);
    expect(await ask(tool("write"))).toBe(true);
    expect(told.at(-1)).toMatchObject({ type: "consent-granted", answer });
    expect(judge.judge(tool("write")).consent).toBe(own);
    expect(judge.judge(tool("read")).consent).toBe(others);
    expect(judge.judge(tool("drop")).consent).toBe("ask");
    // Another session of the agent has what was allowed for good.
    const isLasting = answer.endsWith("always");
    expect(judgeOf().judge(tool("write")).consent).toBe(isLasting ? "grant" : "ask");
    const granted = grants.list().map(({ tool: name }) => name);
    expect(granted).toEqual(
      answer === "tool-always" ? ["write"] : isLasting ? ["read", "write", "(content)"] : [],
    );
  });

  it("PRM-17: no, an unknown word and silence are no", async () => {
    for (const answer of ["no", "sure"] as ConfirmAnswer[]) {
      const { ask, tool, told } = await scriptedConsent([answer]);
      await expect(ask(tool("drop"))).rejects.toMatchObject({
        code: "consent_denied",
        message: expect.stringContaining("drop was not allowed"),
        serverName: "files",
        hint: undefined,
        details: { rule: "consent", toolName: "drop", isDestructive: true },
      });
      expect(told.at(-1)).toMatchObject({ type: "consent-denied", answer: "no" });
    }
    const { ask, tool, clock, told } = await scriptedConsent([new Promise(() => {})]);
    const asking = ask(tool("write")).catch((error: unknown) => error);
    while (told.length === 0) await settled();
    await clock.advance(defaultLimits.totalCallTimeoutMs);
    expect(await asking).toMatchObject({ code: "consent_denied" });
  });

  it("PRM-17: without a person is no, with the way to allow it beforehand", async () => {
    const { ask, tool, told } = await scriptedConsent(undefined);
    await expect(ask(tool("write"))).rejects.toMatchObject({
      code: "consent_denied",
      message: expect.stringContaining("write needs a person's consent, and nobody can be asked"),
      hint: "allow it beforehand with host.grants.allow",
      details: { isDestructive: false },
    });
    expect(told.at(-1)).toMatchObject({ type: "consent-denied", answer: "nobody to ask" });
  });

  it("D8: a tool's name cannot write to the terminal from an error text", async () => {
    const { ask, tool } = await scriptedConsent(["no"]);
    const originalName = `\u001B[31m${"x".repeat(200)}`;
    const failure: unknown = await ask({ ...tool("write"), originalName }).catch(
      (it: unknown) => it,
    );
    expect(failure).toMatchObject({ message: expect.stringContaining("x… was not allowed") });
    expect((failure as Error).message).not.toContain("\u001B");
  });

  it("L4: a yes to arguments that were shown only in part is none", async () => {
    const long = { text: "x".repeat(5_000) };
    const cut = await scriptedConsent(["once"]);
    await expect(cut.ask(cut.tool("write"), undefined, long)).rejects.toMatchObject({
      code: "consent_denied",
      message: expect.stringContaining("was not allowed: its arguments were shown only in part"),
    });
    expect(cut.told.at(-1)).toMatchObject({ type: "consent-denied", answer: "not shown whole" });
    const looks: ((question: ConfirmQuestion) => unknown)[] = [
      (question) => question.argumentsText?.whole(),
      (question) => question.arguments,
    ];
    for (const look of looks) {
      const seen = await scriptedConsent(
        [settled().then(() => "once")],
        (question) => void look(question),
      );
      expect(await seen.ask(seen.tool("write"), undefined, long)).toBe(true);
    }
  });

  it("PRM-21: is not used for what the tool has become, nor after consent was withdrawn", async () => {
    const changes: ((world: Awaited<ReturnType<typeof scriptedConsent>>) => unknown)[] = [
      ({ registry }) => registry.endConsent(registry.get("files"), "a"),
      ({ registry }) => registry.apply([]),
    ];
    for (const change of changes) {
      const answer = deferred<ConfirmAnswer>();
      const world = await scriptedConsent([answer.promise]);
      const asking = world.ask(world.tool("write"));
      while (world.questions.length === 0) await settled();
      await change(world);
      answer.resolve("server-always");
      expect(await asking).toBe(false);
      expect(world.told.at(-1)).toMatchObject({ type: "consent-denied", answer: "outdated" });
      expect(world.grants.list()).toEqual([]);
    }
  });

  it("PRM-09: for the server covers what it offered when the question was asked", async () => {
    const answer = deferred<ConfirmAnswer>();
    const world = await scriptedConsent([answer.promise]);
    const { ask, tool, questions, relist, judge, catalog } = world;
    const asking = ask(tool("write"));
    while (questions.length === 0) await settled();
    const before = catalog.tools("files").map((it) => it.listed);
    await relist("files", [...before, listed("late")]);
    answer.resolve("server-session");
    expect(await asking).toBe(true);
    expect(judge.judge(tool("write")).consent).toBe("server-allowed");
    expect(judge.judge(tool("late")).consent).toBe("ask");
  });

  it("for good holds for the session where it cannot be kept, which is told", async () => {
    for (const [thrown, reason] of [
      [createError("store_failed", "disk full"), "disk full"],
      ["odd", "unknown reason"],
    ] as const) {
      const { create, tool, judge, told } = await scriptedConsent(["tool-always"]);
      // oxlint-disable-next-line prefer-promise-reject-errors
      const consent = create({ grant: () => Promise.reject(thrown) });
      const call = { callId: "c", argumentsText: "{}", signal: undefined };
      expect(await consent.ask({ tool: tool("write") }, {}, call)).toBe(true);
      expect(judge.judge(tool("write")).consent).toBe("tool-allowed");
      expect(told.find(({ type }) => type === "warning")).toEqual({
        type: "warning",
        serverName: "files",
        sessionId: "s",
        text: expect.stringContaining(
          `what was allowed for good holds for this session only: ${reason}`,
        ),
        at: 0,
      });
    }
  });
});

describe("several questions", () => {
  it("PRM-09: wait for each other, and the first answer may settle the next", async () => {
    const { ask, tool, questions } = await scriptedConsent(["server-session"]);
    expect(await Promise.all([ask(tool("write")), ask(tool("read"))])).toEqual([true, true]);
    expect(questions).toHaveLength(1);
  });

  it("about different servers do not wait for each other", async () => {
    const first = deferred<ConfirmAnswer>();
    const { ask, tool, questions } = await scriptedConsent([first.promise, "once"]);
    const waiting = ask(tool("write"));
    expect(await ask(tool("write", "logs"))).toBe(true);
    expect(questions.map(({ serverName }) => serverName)).toEqual(["files", "logs"]);
    first.resolve("once");
    expect(await waiting).toBe(true);
  });
});

describe("giving up", () => {
  it("ends the wait of the caller, before and while the person is asked", async () => {
    const answer = deferred<ConfirmAnswer>();
    const { ask, tool, questions, shown, told, judge } = await scriptedConsent([answer.promise]);
    await expect(ask(tool("write"), AbortSignal.abort())).rejects.toMatchObject({
      code: "cancelled",
    });
    expect(questions).toEqual([]);
    const caller = new AbortController();
    const asking = ask(tool("write"), caller.signal);
    while (questions.length === 0) await settled();
    caller.abort();
    // A surface takes the question away.
    expect(shown.map(({ aborted }) => aborted)).toEqual([true]);
    await expect(asking).rejects.toMatchObject({ code: "cancelled", serverName: "files" });
    answer.resolve("server-session");
    await settled();
    expect(judge.judge(tool("write")).consent).toBe("ask");
    expect(told.map(({ type }) => type)).toEqual(["consent-asked"]);
  });

  it("of the host ends every question", async () => {
    const { ask, tool, questions, closing } = await scriptedConsent([new Promise(() => {})]);
    const asking = ask(tool("write"));
    while (questions.length === 0) await settled();
    closing.abort();
    await expect(asking).rejects.toMatchObject({
      code: "closed",
      message: expect.stringContaining("the host has been closed"),
    });
  });
});
