import { describe, expect, it } from "vitest";

import { attachToResident } from "../../src/host/resident/attach.ts";
import type { AttachedSurface } from "../../src/host/resident/attached-host.ts";
import {
  type ConfirmAnswer,
  type ConfirmQuestion,
  createHost,
  type HostEvent,
  type Human,
} from "../../src/index.ts";
import { createMemoryServer, createRecordedServer } from "../../src/testing/index.ts";
import { serveResident } from "../../src/web/serve-resident.ts";
import { scriptedHuman } from "../fixtures/agent/scripted-human.ts";
import { deferred } from "./deferred.ts";
import { anyTool } from "./recorded-host.ts";
import { residentHost } from "./resident-host.ts";

const destroy = { ...anyTool, name: "destroy", annotations: { destructiveHint: true } };

/** A surface whose person answers everything like this, and what was asked there. */
function surface(answer: ConfirmAnswer | Human["confirm"]) {
  const asked: { readonly question: ConfirmQuestion; readonly program: string | undefined }[] = [];
  const withdrawn = deferred();
  const place: AttachedSurface = {
    humanFor: (program) => ({
      confirm: async (question, options) => {
        asked.push({ question, program });
        options.signal.addEventListener("abort", () => withdrawn.resolve());
        return typeof answer === "string" ? answer : ((await answer?.(question, options)) ?? "no");
      },
    }),
  };
  return { place, asked, withdrawn };
}

/** A person who never answers. */
const silent: Human["confirm"] = () => new Promise(() => {});

describe("a process that is attached to a host", () => {
  it("sees the servers and calls their tools there", async () => {
    const { attach, calls } = await residentHost({ tools: [anyTool] });
    const attached = await attach();
    expect(attached.servers()).toMatchObject([{ name: "fake", state: "idle" }]);
    expect(await attached.serversAsLastSeen()).toEqual(attached.servers());
    expect(() => attached.server("fak")).toThrow('no server "fak"');
    expect(await attached.connect("fake")).toMatchObject({ name: "fake", state: "connected" });
    expect(attached.server("fake").state).toBe("connected");
    const session = attached.session({ agent: "guest", level: "yolo" });
    expect(await session.ready()).toMatchObject({ fake: { ready: true } });
    expect(session.tools().map(({ name }) => name)).toEqual(["mcp__fake__any"]);
    expect(session.find({ server: "fake", tool: "any" })).toBe(session.find("fake.any"));
    expect(await session.find("mcp__fake__any")?.execute({ a: [1, "ü"] })).toMatchObject({
      ok: true,
      text: '{"a":[1,"ü"]}',
      serverName: "fake",
    });
    expect(calls).toHaveLength(1);
    expect(await session.call("fake.anny", {})).toMatchObject({
      ok: false,
      error: { code: "tool_unknown" },
    });
    expect(await session.why("fake.any")).toMatchObject({ verdict: "allowed" });
  });

  it("PRM-05: asks its own person about a call, and nobody else", async () => {
    const { attach, calls } = await residentHost({ tools: [anyTool] });
    const elsewhere = surface("once");
    await attach({ surface: elsewhere.place });
    const yes = scriptedHuman("once");
    const no = scriptedHuman("no");
    const attached = await attach();
    const ask = async (human: Human): Promise<unknown> =>
      await attached
        .session({ agent: "guest", level: "trusted", human })
        .call("fake.any", { a: 1 });
    expect(await ask(yes.human)).toMatchObject({ ok: true });
    expect(await ask(no.human)).toMatchObject({ ok: false, error: { code: "consent_denied" } });
    expect(yes.questions).toMatchObject([
      { kind: "tool-call", agent: "guest", argumentsText: { text: '{"a":1}', omittedChars: 0 } },
    ]);
    expect(elsewhere.asked).toEqual([]);
    expect(calls).toHaveLength(1);
  });

  it("L4: a yes to arguments that were not shown whole is a no, also from another process", async () => {
    const { attach, calls } = await residentHost({ tools: [anyTool] });
    const attached = await attach();
    const long = { text: "x".repeat(9_000) };
    const hasty = scriptedHuman("once");
    const call = async (human: Human): Promise<unknown> =>
      await attached.session({ level: "trusted", human }).call("fake.any", long);
    expect(await call(hasty.human)).toMatchObject({ error: { code: "consent_denied" } });
    expect(hasty.questions[0]?.argumentsText?.omittedChars).toBeGreaterThan(4_000);
    expect(calls).toEqual([]);
    let read = "";
    const careful: Human = {
      confirm: async ({ argumentsText }) => {
        read = (await argumentsText?.whole()) ?? "";
        return "once";
      },
    };
    expect(await call(careful)).toMatchObject({ ok: true });
    expect(read).toBe(JSON.stringify(long));
  });

  it("hears progress, and a call that it cancels is cancelled at the server", async () => {
    const begun = deferred();
    const { attach, host } = await residentHost({
      tools: [anyTool],
      answers: () => {
        begun.resolve();
        return new Promise(() => {});
      },
    });
    const attached = await attach();
    const ended: HostEvent[] = [];
    host.on("call-end", (event) => ended.push(event));
    const cancel = new AbortController();
    const call = attached
      .session({ level: "yolo" })
      .call("fake.any", {}, { signal: cancel.signal, timeoutMs: 0 });
    await begun.promise;
    cancel.abort();
    expect(await call).toMatchObject({ ok: false, error: { code: "cancelled" } });
    expect(ended).toMatchObject([{ ok: false, code: "cancelled" }]);
  });

  it("its calls end when it goes, and so do the servers it connected for its agents", async () => {
    const begun = deferred();
    const { attach, host } = await residentHost({
      tools: [anyTool],
      answers: () => {
        begun.resolve();
        return new Promise(() => {});
      },
    });
    const attached = await attach();
    await attached.connect("fake", { owner: "guest", shared: false });
    const over = deferred();
    host.on("call-end", () => over.resolve());
    const session = attached.session({ agent: "guest", level: "yolo" });
    const call = session.call("fake.any", {}, { timeoutMs: 0 });
    await begun.promise;
    const gone = deferred();
    host.on("server-state", ({ state }) => {
      if (state === "idle") gone.resolve();
    });
    await attached.close();
    await over.promise;
    expect(await call).toMatchObject({ ok: false });
    await gone.promise;
  });

  it("a server goes with the last process that has it for an agent", async () => {
    const { attach, host } = await residentHost({ tools: [anyTool] });
    const [one, two] = [await attach(), await attach()];
    for (const process of [one, two])
      await process.connect("fake", { owner: "ann", shared: false });
    const gone = deferred();
    let isOver = false;
    host.on("server-state", ({ state }) => {
      if (state !== "idle") return;
      isOver = true;
      gone.resolve();
    });
    await one.close();
    const session = two.session({ agent: "ann", level: "yolo" });
    expect(await session.call("fake.any", {})).toMatchObject({ ok: true });
    expect(isOver).toBe(false);
    await two.close();
    await gone.promise;
  });

  it("CLI-06: what one agent connected for itself is hidden from the agents of others", async () => {
    const { attach } = await residentHost({ tools: [anyTool] });
    const [one, two] = [await attach(), await attach()];
    await one.connect("fake", { owner: "ann", shared: false });
    const [ann, ben] = [
      one.session({ agent: "ann", level: "yolo" }),
      two.session({ agent: "ben", level: "yolo" }),
    ];
    await ann.ready();
    await ben.ready();
    expect([ann.servers(), ben.servers()]).toEqual([["fake"], []]);
    expect(await ben.call("fake.any", {})).toMatchObject({ ok: false });
    await one.connect("fake", { owner: "ann", shared: true });
    await ben.ready();
    expect(ben.servers()).toEqual(["fake"]);
  });

  it("works alone when a variable that an entry names has another value", async () => {
    const env = { API_KEY: "first" };
    const { ground, host } = await residentHost({ tools: [anyTool], host: { env } });
    await host.add("api", { url: "http://127.0.0.1:9/mcp", headers: { "X-Key": "${API_KEY}" } });
    const same = await attachToResident({ ...ground, env });
    expect(same.host?.servers().map(({ name }) => name)).toEqual(["fake", "api"]);
    await same.host?.close();
    const { host: none, reason } = await attachToResident({
      ...ground,
      env: { API_KEY: "second" },
    });
    expect(none).toBeUndefined();
    expect(reason).toContain("variables that its entries name differ");
    expect(reason).not.toContain("second");
  });

  it("no secret of an entry reaches it", async () => {
    const { attach, host } = await residentHost({ tools: [anyTool] });
    await host.add("api", {
      url: "http://127.0.0.1:9/mcp",
      headers: { Authorization: "Bearer sk-live-0123456789abcdef" },
    });
    const attached = await attach();
    expect(JSON.stringify(attached.servers())).not.toContain("0123456789abcdef");
  });

  it("learns that the host has gone, and finds none any more", async () => {
    const { attach, ground, stop } = await residentHost({ tools: [anyTool] });
    const attached = await attach();
    const lost = new Promise<void>((resolve) => {
      attached.lost.addEventListener("abort", () => resolve());
    });
    await stop();
    await lost;
    expect(await attached.session({ level: "yolo" }).call("fake.any", {})).toMatchObject({
      ok: false,
      sideEffects: "none",
    });
    expect(await attachToResident(ground)).toEqual({});
  });

  it("a second host for the same folder leaves the first one in its place", async () => {
    const { ground, host, questions } = await residentHost({ tools: [anyTool] });
    const { resident, reason } = await serveResident({ host, questions, options: ground });
    expect(resident).toBeUndefined();
    expect(reason).toBe(`process ${process.pid} runs a host for this folder already`);
  });
});

describe("questions of one process, answered in another", () => {
  it("what the host asks is answered at any surface; the first answer counts", async () => {
    const { attach, host } = await residentHost({ tools: [anyTool] });
    const [slow, quick] = [surface(silent), surface("once")];
    await attach({ surface: slow.place });
    await attach({ surface: quick.place });
    const session = host.session({ agent: "bot", level: "trusted" });
    expect(await session.call("fake.any", { a: 1 })).toMatchObject({ ok: true });
    expect(slow.asked).toHaveLength(1);
    await slow.withdrawn.promise;
    expect(quick.asked).toMatchObject([{ question: { agent: "bot", toolName: "any" } }]);
  });

  it("two answers at once give one decision, a hundred times", async () => {
    const { attach, host, calls } = await residentHost({ tools: [destroy] });
    const [yes, no] = [surface("once"), surface("no")];
    await attach({ surface: yes.place });
    await attach({ surface: no.place });
    const session = host.session({ agent: "bot", level: "trusted" });
    const outcomes: boolean[] = [];
    for (let round = 0; round < 100; round += 1)
      outcomes.push((await session.call("fake.destroy", { round })).ok);
    // Whoever was first: what was allowed was called once, and what was not, never.
    expect(calls).toHaveLength(outcomes.filter(Boolean).length);
    expect([yes.asked.length, no.asked.length]).toEqual([100, 100]);
  });

  it("a program that joins is answered at a surface, and the person there knows who asks", async () => {
    const { attach, ground } = await residentHost({ tools: [anyTool] });
    const repl = surface("once");
    await attach({ surface: repl.place });
    const factory = createRecordedServer({ tools: [anyTool], answers: () => ({ content: [] }) });
    await using program = await createHost({
      ...ground,
      config: false,
      resident: true,
      servers: { own: () => createMemoryServer(factory).transport },
      logger: false,
    });
    const session = program.session({ agent: "worker", level: "trusted" });
    expect(await session.call("own.any", { a: 1 })).toMatchObject({ ok: true });
    expect(repl.asked).toMatchObject([{ question: { agent: "worker", serverName: "own" } }]);
    expect(repl.asked[0]?.program).toContain(`(process ${process.pid})`);
  });

  it("L4: a program's long arguments are shown whole on demand, or the answer is no", async () => {
    const { attach, ground } = await residentHost({ tools: [anyTool] });
    const answers: Human["confirm"][] = [
      async () => "once",
      async ({ argumentsText }) => {
        await argumentsText?.whole();
        return "once";
      },
    ];
    const repl = surface(
      (question, options) => answers.shift()?.(question, options) ?? silent?.(question, options),
    );
    await attach({ surface: repl.place });
    const factory = createRecordedServer({ tools: [anyTool], answers: () => ({ content: [] }) });
    // A person at the program who does not look says nothing, and must not be taken for one who has looked.
    await using program = await createHost({
      ...ground,
      config: false,
      resident: true,
      human: { confirm: silent },
      servers: { own: () => createMemoryServer(factory).transport },
      logger: false,
    });
    const session = program.session({ agent: "worker", level: "trusted" });
    const long = { text: "x".repeat(9_000) };
    expect(await session.call("own.any", long)).toMatchObject({ ok: false });
    expect(await session.call("own.any", long)).toMatchObject({ ok: true });
  });

  it("L4: a person at the program who says yes unseen is not helped by a surface that saw it", async () => {
    const { attach, ground } = await residentHost({ tools: [anyTool] });
    const looked = deferred();
    const repl = surface(async ({ argumentsText }) => {
      await argumentsText?.whole();
      looked.resolve();
      return await new Promise(() => {});
    });
    await attach({ surface: repl.place });
    const factory = createRecordedServer({ tools: [anyTool], answers: () => ({ content: [] }) });
    await using program = await createHost({
      ...ground,
      config: false,
      resident: true,
      human: {
        confirm: async () => {
          await looked.promise;
          return "once";
        },
      },
      servers: { own: () => createMemoryServer(factory).transport },
      logger: false,
    });
    const session = program.session({ agent: "worker", level: "trusted" });
    const outcome = await session.call("own.any", { text: "x".repeat(9_000) });
    expect(outcome).toMatchObject({ ok: false, error: { code: "consent_denied" } });
  });

  it("a program that joins works alone: its own person answers, and without one the answer is no", async () => {
    const { ground, stop } = await residentHost({ tools: [anyTool] });
    const factory = createRecordedServer({ tools: [anyTool], answers: () => ({ content: [] }) });
    const local = scriptedHuman("once");
    const open = (human?: Human) =>
      createHost({
        ...ground,
        config: false,
        resident: true,
        human,
        servers: { own: () => createMemoryServer(factory).transport },
        logger: false,
      });
    await using attended = await open(local.human);
    await using unattended = await open();
    const call = async (host: typeof attended): Promise<unknown> =>
      await host.session({ agent: "worker", level: "trusted" }).call("own.any", {});
    // Nobody is attached to the host that runs; then there is none.
    expect(await call(attended)).toMatchObject({ ok: true });
    expect(await call(unattended)).toMatchObject({ error: { code: "consent_denied" } });
    await stop();
    expect(await call(unattended)).toMatchObject({ error: { code: "consent_denied" } });
    expect(local.questions).toHaveLength(1);
  });

  it("the host dies while a program's question is open: no, and nothing hangs", async () => {
    const { attach, ground, stop } = await residentHost({ tools: [anyTool] });
    const asked = deferred();
    const repl = surface((question, options) => {
      asked.resolve();
      return silent?.(question, options) ?? Promise.resolve("no");
    });
    await attach({ surface: repl.place });
    const factory = createRecordedServer({ tools: [anyTool], answers: () => ({ content: [] }) });
    await using program = await createHost({
      ...ground,
      config: false,
      resident: true,
      servers: { own: () => createMemoryServer(factory).transport },
      logger: false,
    });
    const call = program.session({ agent: "worker", level: "trusted" }).call("own.any", {});
    await asked.promise;
    await stop();
    expect(await call).toMatchObject({ ok: false, error: { code: "consent_denied" } });
  });

  it("a surface that goes in the middle of a question leaves it to the others", async () => {
    const { attach, host } = await residentHost({ tools: [anyTool] });
    const asked = deferred();
    const leaving = surface((question, options) => {
      asked.resolve();
      return silent?.(question, options) ?? Promise.resolve("no");
    });
    const first = await attach({ surface: leaving.place });
    const call = host.session({ agent: "bot", level: "trusted" }).call("fake.any", {});
    await asked.promise;
    const late = surface("once");
    await attach({ surface: late.place });
    await first.close();
    expect(await call).toMatchObject({ ok: true });
    expect(late.asked).toHaveLength(1);
  });
});
