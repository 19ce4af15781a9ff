import { getEventListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import {
  answered,
  callOf,
  codeOf,
  form,
  openQuestions,
  person,
} from "../../tests/fixtures/requests/open-questions.ts";
import { defaultLimits } from "../config/keys/limits.ts";
import { createError } from "../errors/families.ts";
import { endRequest, endSignal } from "../protocol/wire/request-owner.ts";

describe("what is offered", () => {
  it("PRO-21: nothing, unless somebody or something can answer", () => {
    expect(openQuestions().capabilities()).toEqual({});
    expect(openQuestions({ human: { confirm: async () => "once" } }).capabilities()).toEqual({});
    expect(openQuestions({ human: { openUrl: async () => undefined } }).capabilities()).toEqual({});
    const { human } = person();
    expect(openQuestions({ human }).capabilities()).toEqual({ "elicitation/create": { form: {} } });
    const everything = openQuestions({
      human: { ...human, openUrl: async () => undefined },
      sampling: async () => ({ content: "a", model: "m" }),
      roots: [],
    });
    expect(everything.capabilities()).toEqual({
      "elicitation/create": { form: {}, url: {} },
      "sampling/createMessage": {},
      "roots/list": { listChanged: true },
    });
  });

  it("PRO-21: a session with somebody to ask counts from then on", () => {
    const { questions, capabilities } = openQuestions();
    questions.introduce(undefined);
    questions.introduce({});
    expect(capabilities()).toEqual({});
    questions.introduce(person().human);
    expect(capabilities()).toEqual({ "elicitation/create": { form: {} } });
  });

  it("E2: a way of asking that was not offered is refused, and nobody is asked", async () => {
    const { human, asked } = person(answered);
    const { ask, outcomes } = openQuestions({ human });
    const params = { mode: "url", message: "Sign in", url: "https://example.com" };
    expect(await codeOf(ask("elicitation/create", params))).toBe("protocol_violation");
    expect(await codeOf(ask("elicitation/create", { ...form, mode: "odd" }))).toBe(
      "protocol_violation",
    );
    expect(asked).toEqual([]);
    expect(outcomes()).toEqual(["refused", "refused"]);
  });
});

describe("who answers", () => {
  it("the call's session, else the host, else nobody: then it is declined", async () => {
    const session = person(answered);
    const host = person(answered);
    const { ask } = openQuestions({ human: host.human });
    await ask("elicitation/create", form, { owner: callOf(session.human) });
    expect(session.asked).toMatchObject([{ agent: "agent", toolName: "tool", serverName: "s" }]);
    expect(host.asked).toEqual([]);
    await ask("elicitation/create", form);
    expect(host.asked).toHaveLength(1);
    expect(host.asked[0]).not.toHaveProperty("agent");
    const refused = await ask("elicitation/create", form, { owner: callOf(undefined) });
    expect(refused).toEqual({ action: "decline" });
    expect(host.asked).toHaveLength(1);
  });

  it("events name the call where it is certain, and how it ended", async () => {
    const { ask, seen, events } = openQuestions({
      human: person({ action: "decline" }, answered).human,
    });
    const owner = callOf(undefined);
    await ask("elicitation/create", form, { owner });
    await ask("elicitation/create", form);
    expect(seen).toEqual([
      {
        type: "request-asked",
        serverName: "s",
        owner: null,
        kind: "elicitation",
        requestId: "id",
        sessionId: "session 1",
        callId: "call 1",
        at: 0,
      },
      expect.objectContaining({ callId: "call 1", outcome: "declined", durationMs: 0 }),
      {
        type: "request-asked",
        serverName: "s",
        owner: null,
        kind: "elicitation",
        requestId: "id",
        at: 0,
      },
      expect.objectContaining({ type: "request-answered", outcome: "declined" }),
    ]);
    // Nothing goes on listening for the end of the call.
    expect(events.topic("call-end").isWanted).toBe(false);
    expect(getEventListeners(endSignal(owner), "abort")).toEqual([]);
  });
});

describe("the end of a call", () => {
  it("PRO-22: withdraws what was asked about it, and nothing about another call of the same id", async () => {
    const { ask } = openQuestions({ human: person().human });
    const elicit = () => new Promise<never>(() => undefined);
    const owners = [1, 2].map(() => callOf({ elicit }));
    const answers = owners.map((owner) => ask("elicitation/create", form, { owner }));
    const settled: unknown[] = [];
    for (const answer of answers) void answer.then(() => settled.push(answer));
    const end = async (owner: (typeof owners)[number]) => {
      endRequest(owner);
      await turn();
    };
    await end(owners[1] as (typeof owners)[number]);
    expect(settled).toEqual([answers[1]]);
    await end(owners[0] as (typeof owners)[number]);
    expect(await Promise.all(answers)).toEqual([{ action: "cancel" }, { action: "cancel" }]);
  });

  it("PRO-22: keeps a question that comes too late from reaching anybody", async () => {
    const { human, asked } = person(answered);
    const { ask } = openQuestions({ human });
    const owner = callOf(human);
    endRequest(owner);
    expect(await ask("elicitation/create", form, { owner })).toEqual({ action: "cancel" });
    expect(asked).toEqual([]);
  });
});

describe("roots", () => {
  it("PRO-19: come from the list or the function, and change when the program says so", async () => {
    const { questions, ask } = openQuestions({ roots: ["a"] });
    expect(await ask("roots/list")).toEqual({ roots: [{ uri: "file:///srv/a", name: "a" }] });
    await questions.setRoots(async ({ serverName }) => [`/for/${serverName}`], []);
    expect(await ask("roots/list")).toEqual({ roots: [{ uri: "file:///for/s", name: "s" }] });
  });

  it("cannot be changed where they were never offered, nor to what is no folder", async () => {
    const { questions } = openQuestions({ roots: [] });
    expect(await codeOf(openQuestions().questions.setRoots([], []))).toBe("config_invalid");
    expect(await codeOf(questions.setRoots(["data:,a"], []))).toBe("config_invalid");
    expect(() => openQuestions({ roots: ["https://example.com"] })).toThrow("must be a folder");
  });

  it("that change are told to open connections of the legacy era, and a lost one is no matter", async () => {
    const { questions } = openQuestions({ roots: [] });
    const told: string[] = [];
    const connection = (era: "legacy" | "modern", isLost = false) => ({
      openClient: {
        era,
        notify: async (method: string) => {
          told.push(`${era} ${method}`);
          if (isLost) throw createError("connection_lost", "gone");
        },
      },
    });
    const closed = { openClient: undefined };
    await questions.setRoots(
      ["a"],
      [connection("legacy", true), closed, connection("modern"), connection("legacy")],
    );
    const expected = "legacy notifications/roots/list_changed";
    expect(told).toEqual([expected, expected]);
  });

  it("a function that never answers ends as a timeout", async () => {
    const { ask, clock } = openQuestions({ roots: () => new Promise(() => undefined) });
    const code = codeOf(ask("roots/list"));
    await clock.advance(defaultLimits.totalCallTimeoutMs);
    expect(await code).toBe("timeout");
  });
});
