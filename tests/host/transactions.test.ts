import { describe, expect, it } from "vitest";

import {
  defineSlice,
  type HostEvent,
  type HostOptions,
  type Human,
  type Outcome,
  type Transaction,
} from "../../src/index.ts";
import { ManualClock, settled } from "../fixtures/protocol/manual-clock.ts";
import { deferred } from "./deferred.ts";
import { anyTool, recordedHost, type RecordedHost } from "./recorded-host.ts";

const counter = defineSlice("count", 0);
const increment = (value: number): number => value + 1;

/** A host whose tool `any` fails when it is told to, and a session with a tool that counts. */
async function scene(host: HostOptions = {}) {
  const context: RecordedHost = await recordedHost({
    tools: [anyTool],
    host,
    answers: ({ arguments: args }) => ({
      content: [{ type: "text", text: "done" }],
      isError: args["fail"] === true,
    }),
  });
  const session = context.host.session({ level: "yolo" });
  session.defineTool({
    name: "count",
    description: "Counts",
    inputSchema: { type: "object" },
    handler: (_, call) => String(call.context.state.update(counter, increment)),
  });
  const events: HostEvent[] = [];
  session.on("*", (event) => {
    if (event.type === "transaction-end" || event.type === "warning") events.push(event);
  });
  return { ...context, session, events };
}

describe("a transaction", () => {
  it("SES-06: commits what it and the calls in it wrote, all at once", async () => {
    await using context = await scene();
    const { session, events } = context;
    const result = await session.transaction(async (transaction) => {
      transaction.state.set("step", 1);
      await transaction.call("mcp__fake__any", {});
      await transaction.call("count");
      await transaction.call("count");
      expect(transaction.state.get(counter)).toBe(2);
      expect(session.state.snapshot()).toEqual({});
      return "value";
    });
    expect(result).toMatchObject({ committed: true, value: "value" });
    expect(result.outcomes.map(({ text }) => text)).toEqual(["done", "1", "2"]);
    expect(result.outcomes[0]).not.toHaveProperty("rolledBack");
    expect(session.state.snapshot()).toEqual({ step: 1, count: 2 });
    expect(events).toMatchObject([
      { type: "transaction-end", committed: true, sideEffects: "possible" },
    ]);
  });

  it("B-W3 SES-15: a call that failed rolls it back, and the outcomes say what may remain", async () => {
    await using context = await scene();
    const { session, events } = context;
    session.state.set(counter, 7);
    const result = await session.transaction(async (transaction) => {
      await transaction.call("count");
      await transaction.call("mcp__fake__any", { id: 1 });
      await transaction.call("mcp__fake__any", { fail: true });
      return "value";
    });
    expect(result).toMatchObject({
      committed: false,
      value: "value",
      outcomes: [
        { ok: true, rolledBack: true },
        { ok: true, rolledBack: true, sideEffects: "possible" },
        { ok: false, rolledBack: true, sideEffects: "possible" },
      ],
    });
    expect(session.state.snapshot()).toEqual({ count: 7 });
    expect(context.calls).toHaveLength(2);
    expect(events).toMatchObject([
      {
        type: "transaction-end",
        committed: false,
        sideEffects: "possible",
        callIds: result.outcomes.map(({ callId }) => callId),
      },
    ]);
  });

  it.each(["mcp__fake__any", "hang"])(
    "B-W3 SES-15: a call that timed out (%s) rolls it back",
    async (name) => {
      const clock = new ManualClock();
      const begun = deferred();
      const hang = (): Promise<never> => {
        begun.resolve();
        return new Promise(() => {});
      };
      await using context = await recordedHost({
        tools: [anyTool],
        host: { clock },
        answers: hang,
      });
      const session = context.host.session({ level: "yolo" });
      session.defineTool({
        name: "hang",
        description: "Writes, and never ends",
        inputSchema: { type: "object" },
        handler: (_, call) => {
          call.context.state.set("hang", 1);
          return hang();
        },
      });
      await session.ready();
      const undone: string[] = [];
      const running = session.transaction(async (transaction) => {
        transaction.state.set("step", 1);
        const compensate = ({ ok }: Outcome) => undone.push(`${name} ${ok}`);
        await transaction.call(name, {}, { timeoutMs: 1_000, compensate });
      });
      await begun.promise;
      await clock.advance(2_000);
      expect(await running).toMatchObject({
        committed: false,
        outcomes: [{ error: { code: "timeout" }, rolledBack: true, sideEffects: "possible" }],
      });
      expect(undone).toEqual([`${name} false`]);
      expect(session.state.snapshot()).toEqual({});
    },
  );

  it("what its work throws rolls it back and is thrown again", async () => {
    await using context = await scene();
    const { session, events } = context;
    const error = new Error("mine");
    await expect(
      session.transaction(async (transaction) => {
        transaction.state.set("a", 1);
        await transaction.call("count");
        throw error;
      }),
    ).rejects.toBe(error);
    expect(session.state.snapshot()).toEqual({});
    expect(events).toMatchObject([{ type: "transaction-end", committed: false }]);
  });

  it("a failed outcome that its work returns rolls it back, whoever made the call", async () => {
    await using context = await scene();
    const { session } = context;
    const result = await session.transaction((transaction) => {
      transaction.state.set("a", 1);
      return session.call("nobody");
    });
    expect(result).toMatchObject({ committed: false, value: { ok: false } });
    expect(session.state.snapshot()).toEqual({});
  });

  it("waits for calls that its work did not wait for", async () => {
    await using context = await scene();
    const { session } = context;
    const gate = deferred();
    session.defineTool({
      name: "slow",
      description: "Fails late",
      inputSchema: { type: "object" },
      handler: () => gate.promise.then(() => Promise.reject(new Error("late"))),
    });
    const running = session.transaction((transaction) => {
      transaction.state.set("a", 1);
      void transaction.call("slow");
    });
    gate.resolve();
    expect(await running).toMatchObject({ committed: false, outcomes: [{ ok: false }] });
    expect(session.state.snapshot()).toEqual({});
  });

  it("waits for what joined it and nobody waited for", async () => {
    await using context = await scene();
    const { session } = context;
    const gate = deferred();
    const running = session.transaction((transaction) => {
      void transaction.transaction(async (joined) => {
        await gate.promise;
        joined.state.set("a", 1);
        await joined.call("count");
      });
    });
    // Long enough for an end that does not wait.
    await settled();
    gate.resolve();
    expect(await running).toMatchObject({ committed: true, outcomes: [{ ok: true }] });
    expect(session.state.snapshot()).toEqual({ a: 1, count: 1 });
    const failing = session.transaction((transaction) => {
      transaction.state.set("a", 2);
      void transaction.transaction(() => Promise.reject(new Error("no")));
    });
    expect(await failing).toMatchObject({ committed: false });
  });

  it("calls that nobody waited for are given up when its work throws", async () => {
    const asked = deferred();
    await using context = await recordedHost({ tools: [anyTool] });
    const human: Human = {
      confirm: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    };
    const session = context.host.session({ level: "trusted", human });
    const done: string[] = [];
    const codes: (string | null)[] = [];
    session.on("call-end", ({ code }) => codes.push(code));
    await expect(
      session.transaction(async (transaction) => {
        const compensate = () => done.push("undone");
        void transaction.call("mcp__fake__any", {}, { compensate });
        await asked.promise;
        throw new Error("mine");
      }),
    ).rejects.toThrow("mine");
    expect([codes, done, context.calls]).toEqual([["cancelled"], [], []]);
  });

  it("SES-14: transactions at the same time neither lose nor undo each other's work", async () => {
    await using context = await scene();
    const { session } = context;
    const gates = [deferred(), deferred(), deferred()];
    const running = gates.map((gate, index) =>
      session.transaction(async (transaction) => {
        await transaction.call("count");
        await gate.promise;
        if (index === 1) throw new Error("no");
      }),
    );
    for (const index of [2, 1, 0]) {
      gates[index]?.resolve();
      await running[index]?.catch(() => undefined);
    }
    expect(session.state.get(counter)).toBe(2);
  });

  it("a change that can no longer be made rolls it back and is thrown", async () => {
    await using context = await recordedHost({
      tools: [],
      host: { limits: { maxStateBytes: 50 } },
    });
    const session = context.host.session();
    const hooks: string[] = [];
    await expect(
      session.transaction((transaction) => {
        transaction.onRollback(() => hooks.push("hook"));
        transaction.state.set("a", "x".repeat(30));
        session.state.set("b", "x".repeat(30));
      }),
    ).rejects.toMatchObject({ code: "too_large" });
    expect([session.state.keys(), hooks]).toEqual([["b"], ["hook"]]);
  });

  it("cannot be used when it is over", async () => {
    await using context = await scene();
    let kept: Transaction | undefined;
    await context.session.transaction((transaction) => {
      kept = transaction;
    });
    const closed = expect.objectContaining({ code: "closed" });
    expect(await kept?.call("count", {}, { callId: "late" })).toMatchObject({
      ok: false,
      callId: "late",
      error: closed,
      sideEffects: "none",
    });
    const work = () => expect.unreachable("must not run");
    await expect(kept?.transaction(work)).rejects.toEqual(closed);
    expect(() => kept?.onRollback(() => {})).toThrow(closed);
    expect(() => kept?.state.set("a", 1)).toThrow(closed);
  });

  it("one inside another joins it: the failure of one is the failure of both", async () => {
    await using context = await scene();
    const { session } = context;
    const result = await session.transaction(async (outer) => {
      outer.state.set("outer", 1);
      await outer
        .transaction((inner) => {
          expect(inner.state.get("outer")).toBe(1);
          inner.state.set("inner", 1);
          throw new Error("inner");
        })
        .catch(() => "caught");
    });
    expect(result.committed).toBe(false);
    expect(session.state.snapshot()).toEqual({});
  });
});

describe("compensation", () => {
  it("SES-15: runs for what was sent, the latest first, each once", async () => {
    await using context = await scene();
    const { session } = context;
    const done: string[] = [];
    const undo = (what: string) => (outcome: Outcome) => done.push(`${what} ${outcome.ok}`);
    await session.transaction(async (transaction) => {
      await transaction.call("mcp__fake__any", {}, { compensate: undo("first") });
      transaction.onRollback(() => done.push("hook"));
      await transaction.call("mcp__fake__any", { fail: true }, { compensate: undo("second") });
      await transaction.call("nobody", {}, { compensate: undo("never sent") });
      await transaction.call("count", {}, { compensate: undo("native") });
    });
    expect(done).toEqual(["native true", "second false", "hook", "first true"]);
  });

  it("does not run for a transaction that was committed", async () => {
    await using context = await scene();
    const done: string[] = [];
    await context.session.transaction(async (transaction) => {
      await transaction.call("mcp__fake__any", {}, { compensate: () => done.push("undone") });
    });
    expect(done).toEqual([]);
  });

  it("a hook that fails is a warning, and hides neither the others nor the reason", async () => {
    await using context = await scene();
    const { session, events } = context;
    const done: string[] = [];
    await expect(
      session.transaction((transaction) => {
        transaction.onRollback(() => done.push("first"));
        transaction.onRollback(() => Promise.reject(new Error("cannot be undone")));
        throw new Error("the reason");
      }),
    ).rejects.toThrow("the reason");
    expect(done).toEqual(["first"]);
    expect(events).toMatchObject([
      { type: "warning", text: expect.stringContaining("cannot be undone") },
      { type: "transaction-end", committed: false, sideEffects: "none" },
    ]);
  });

  it("a hook that never ends is given up after the limit for calls, with a warning", async () => {
    await using context = await scene({ limits: { callTimeoutMs: 20 } });
    const { session, events } = context;
    const done: string[] = [];
    await expect(
      session.transaction((transaction) => {
        transaction.onRollback(() => done.push("first"));
        transaction.onRollback(() => new Promise(() => {}));
        throw new Error("the reason");
      }),
    ).rejects.toThrow("the reason");
    expect(done).toEqual(["first"]);
    expect(events).toMatchObject([
      { type: "warning", text: expect.stringContaining("did not finish within 20 ms") },
      { type: "transaction-end", committed: false },
    ]);
  });

  it("a host that closes waits for no hook, but begins each", async () => {
    await using context = await scene({ limits: { callTimeoutMs: 0 } });
    const { session, events } = context;
    const done: string[] = [];
    const begun = deferred();
    const running = session.transaction((transaction) => {
      transaction.onRollback(() => done.push("first"));
      transaction.onRollback(() => {
        done.push("second");
        return new Promise(() => {});
      });
      transaction.onRollback(() => {
        begun.resolve();
        return new Promise(() => {});
      });
      throw new Error("the reason");
    });
    await begun.promise;
    await context.host.close();
    await expect(running).rejects.toThrow("the reason");
    expect(done).toEqual(["second", "first"]);
    expect(events.map(({ type }) => type)).toEqual(["warning", "warning", "transaction-end"]);
  });
});
