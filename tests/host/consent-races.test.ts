import { createHash } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { type ConfirmAnswer, type Human, createHost } from "../../src/index.ts";
import {
  createMemoryServer,
  createRecordedServer,
  demoServerEntry,
  type RecordedCall,
} from "../../src/testing/index.ts";
import { deferred } from "./deferred.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

/** A person whose first answer comes when the test gives it, and who says no to everything after it. */
function hesitatingHuman() {
  const asked = deferred();
  const first = deferred<ConfirmAnswer>();
  let questions = 0;
  const human: Human = {
    confirm: () => {
      questions += 1;
      asked.resolve();
      return questions === 1 ? first.promise : Promise.resolve("no" as const);
    },
  };
  return { human, asked: asked.promise, answer: first.resolve, count: () => questions };
}

describe("what changes while a person or a server is waited for", () => {
  it.each(["once", "tool-session", "server-session", "tool-always", "server-always"] as const)(
    "PRM-21: a yes (%s) to a server that was disconnected meanwhile is asked for again",
    async (yes) => {
      await using context = await recordedHost({ tools: [anyTool], host: { store: ":memory:" } });
      const { host, calls } = context;
      const { human, asked, answer, count } = hesitatingHuman();
      const session = host.session({ agent: "a", level: "trusted", human });
      await session.ready();
      const calling = session.call("mcp__fake__any", {});
      await asked;
      await host.disconnect("fake");
      answer(yes);
      expect(await calling).toMatchObject({ ok: false, error: { code: "consent_denied" } });
      expect(count()).toBe(2);
      expect(calls).toEqual([]);
      expect(host.grants.list()).toEqual([]);
      const answers = (await host.audit.query()).filter(({ type }) => type === "consent-denied");
      expect(new Set(answers.map(({ code }) => code))).toEqual(new Set(["no", "outdated"]));
    },
  );

  it("PRM-21: an entry that is replaced during the question is asked about, and runs after a second yes", async () => {
    const home = await mkdtemp(path.join(tmpdir(), "home-"));
    await using host = await createHost({ home, cwd: home, watch: false });
    await host.add("demo", demoServerEntry());
    let questions = 0;
    const human: Human = {
      confirm: async () => {
        questions += 1;
        if (questions === 1)
          await host.update("demo", { ...demoServerEntry(), env: { OTHER: "1" } });
        return "once";
      },
    };
    const session = host.session({ agent: "a", level: "trusted", human });
    expect(await session.call("mcp__demo__add", { a: 1, b: 2 })).toMatchObject({ text: "3" });
    expect(questions).toBe(2);
  });

  it.each([
    ["disable", "server_disabled"],
    ["remove", "tool_unknown"],
  ] as const)(
    "PRM-20: after %s during the question the call ends as %s, whatever the answer",
    async (change, code) => {
      const home = await mkdtemp(path.join(tmpdir(), "home-"));
      await using host = await createHost({ home, cwd: home, watch: false });
      await host.add("demo", demoServerEntry());
      const human: Human = {
        confirm: async () => {
          await host[change]("demo");
          return "tool-always";
        },
      };
      const session = host.session({ agent: "a", level: "trusted", human });
      const outcome = await session.call("mcp__demo__add", { a: 1, b: 2 });
      expect(outcome).toMatchObject({ ok: false, error: { code }, sideEffects: "none" });
    },
  );

  it("PRM-20: a tool that was taken off the list during the question is not called", async () => {
    const tools = [anyTool];
    await using context = await recordedHost({ tools });
    const { host, calls } = context;
    const human: Human = {
      confirm: async () => {
        tools.length = 0;
        await host.reconnect("fake");
        return "once";
      },
    };
    const session = host.session({ agent: "a", level: "trusted", human });
    expect(await session.call("mcp__fake__any", {})).toMatchObject({
      ok: false,
      error: { code: "tool_unknown" },
    });
    expect(calls).toEqual([]);
  });

  it("PRM-21: a yes to an entry that was replaced meanwhile does not count for the new one", async () => {
    const home = await mkdtemp(path.join(tmpdir(), "home-"));
    await using host = await createHost({ home, cwd: home, watch: false });
    await host.add("demo", demoServerEntry());
    const { human, asked, answer, count } = hesitatingHuman();
    const session = host.session({ agent: "a", level: "trusted", human });
    const calling = session.call("mcp__demo__add", { a: 1, b: 2 });
    await asked;
    await host.update("demo", { ...demoServerEntry(), env: { OTHER: "1" } });
    answer("tool-always");
    expect(await calling).toMatchObject({ ok: false });
    const next = await session.call("mcp__demo__add", { a: 1, b: 2 });
    expect(next).toMatchObject({ ok: false, error: { code: "consent_denied" } });
    expect(count()).toBeGreaterThan(1);
  });

  it("PRM-20: a grant that is taken back while the server starts no longer lets the call pass", async () => {
    const calls: RecordedCall[] = [];
    const factory = createRecordedServer({
      tools: [anyTool],
      answers: (call) => {
        calls.push(call);
        return { content: [] };
      },
    });
    const starts: { readonly isMade: () => void; readonly gate: Promise<void> }[] = [];
    await using host = await createHost({
      config: false,
      store: ":memory:",
      servers: {
        fake: () => {
          const { transport } = createMemoryServer(factory);
          const start = transport.start.bind(transport);
          transport.start = async () => {
            const slow = starts.shift();
            slow?.isMade();
            await slow?.gate;
            await start();
          };
          return transport;
        },
      },
    });
    await host.connect("fake");
    await host.grants.allow({ agent: "a", server: "fake", tool: "any" });
    const session = host.session({ agent: "a", level: "trusted" });
    expect(await session.call("mcp__fake__any", {})).toMatchObject({ ok: true });
    const made = deferred();
    const gate = deferred();
    starts.push({ isMade: made.resolve, gate: gate.promise });
    const reconnecting = host.reconnect("fake").catch(() => undefined);
    const calling = session.call("mcp__fake__any", { n: 2 });
    await made.promise;
    await host.grants.revoke({ agent: "a", server: "fake" });
    gate.resolve();
    expect(await calling).toMatchObject({ ok: false, error: { code: "consent_denied" } });
    await reconnecting;
    expect(calls).toHaveLength(1);
  });

  it("a resource is read, and written down, as it was asked for", async () => {
    const read: unknown[] = [];
    await using host = await createHost({
      config: false,
      store: ":memory:",
      servers: { demo: demoServerEntry() },
    });
    host.on("tool-invoked", ({ params }) => void read.push(params));
    const session = host.session({ agent: "a", level: "yolo", resourceTools: true });
    await session.ready();
    const name = session.tools().find(({ name: one }) => one.endsWith("read_resource"))?.name ?? "";
    const [resource] = await session.content.resources({ server: "demo" });
    const uri = String(resource?.uri);
    const args = { uri };
    const calling = session.call(name, args);
    args.uri = "file:///elsewhere";
    expect(await calling).toMatchObject({ ok: true });
    expect(read).toEqual([{ uri }]);
    const [row] = await host.audit.query({ type: "call" });
    const hashed = createHash("sha256").update(JSON.stringify({ uri })).digest("base64url");
    expect(row?.detail?.["argumentsHash"]).toBe(hashed.slice(0, 24));
  });

  it("SES-13: who watches the progress of a call cannot make it fail", async () => {
    await using host = await createHost({ config: false });
    const session = host.session({ agent: "a", level: "yolo" });
    session.defineTool({
      name: "steps",
      description: "Reports",
      inputSchema: { type: "object" },
      handler: (_params, { context }) => {
        context.progress({ progress: 1 });
        return "done";
      },
    });
    const onProgress = (): never => {
      throw new Error("a broken listener");
    };
    expect(await session.call("steps", {}, { onProgress })).toMatchObject({ ok: true });
  });
});
