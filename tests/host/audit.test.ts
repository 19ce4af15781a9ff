import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { type AuditRow, type HostOptions, createHost } from "../../src/index.ts";
import { createMemoryServer, createRecordedServer } from "../../src/testing/index.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

const strict = {
  name: "strict",
  inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
};
const store: HostOptions = { store: ":memory:" };

describe("the audit trail", () => {
  it("holds a row for every call: who, what, which rule, outcome, duration, hash of the arguments", async () => {
    await using context = await recordedHost({ tools: [anyTool, strict], host: store });
    const { host } = context;
    const session = host.session({ agent: "a", level: "yolo" });
    await session.call("mcp__fake__any", { secret: "canary-1" }, { callId: "c1" });
    await session.call("mcp__fake__strict", { n: "canary-2" }, { callId: "c2" });
    await host.session({ agent: "b", level: "sandboxed" }).call("mcp__fake__any", {});
    await host.session({ agent: "c", level: "trusted" }).call("mcp__fake__any", {});
    await session.call("mcp__nowhere__x", {});
    const rows = (await host.audit.query({ type: "call" })).toReversed();
    expect(rows).toMatchObject([
      {
        agent: "a",
        server: "fake",
        tool: "any",
        code: "ok",
        detail: { callId: "c1", consent: "yolo", sideEffects: "possible" },
      },
      { agent: "a", tool: "strict", code: "invalid_arguments", detail: { sideEffects: "none" } },
      { agent: "b", tool: "any", code: "denied", detail: { rule: "level" } },
      { agent: "c", tool: "any", code: "consent_denied", detail: { consent: "ask" } },
      { agent: "a", code: "tool_unknown", detail: { publicName: "mcp__nowhere__x" } },
    ]);
    for (const { detail } of rows) expect(detail?.["durationMs"]).toBeTypeOf("number");
    const hashed = createHash("sha256").update('{"secret":"canary-1"}').digest("base64url");
    expect(rows[0]?.detail?.["argumentsHash"]).toBe(hashed.slice(0, 24));
    expect(JSON.stringify(rows)).not.toContain("canary");
  });

  it("the same arguments have the same hash, whatever their length, and names are what they are", async () => {
    const odd = { ...anyTool, name: 'é"\\odd' };
    await using context = await recordedHost({ tools: [anyTool, odd], host: store });
    const { host } = context;
    const session = host.session({ agent: "é", level: "yolo" });
    await session.ready();
    const long = { text: "x".repeat(5_000) };
    for (const args of [{ a: 1 }, long, { a: 1 }, long]) await session.call("mcp__fake__any", args);
    const oddName = session.tools().find(({ originalName }) => originalName === odd.name)?.name;
    await session.call(oddName ?? "", {});
    const rows = (await host.audit.query({ type: "call" })).toReversed();
    const hashes = rows.map(({ detail }) => detail?.["argumentsHash"]);
    expect(hashes[0]).toBe(hashes[2]);
    expect(hashes[1]).toBe(hashes[3]);
    expect(new Set(hashes).size).toBe(3);
    expect(rows.at(-1)).toMatchObject({ agent: "é", code: "ok", detail: { consent: "yolo" } });
  });

  it("the hash is of what was sent, whatever becomes of the caller's object meanwhile", async () => {
    await using context = await recordedHost({ tools: [anyTool], host: store });
    const { host } = context;
    const session = host.session({ agent: "a", level: "yolo" });
    await session.ready();
    const args: Record<string, unknown> = { n: 1 };
    const calling = session.call("mcp__fake__any", args);
    args["n"] = 2;
    expect(await calling).toMatchObject({ ok: true });
    const [row] = await host.audit.query({ type: "call" });
    const hashed = createHash("sha256").update('{"n":1}').digest("base64url");
    expect(row?.detail?.["argumentsHash"]).toBe(hashed.slice(0, 24));
  });

  it("holds a row for every decision, and can be exported as JSON lines", async () => {
    await using context = await recordedHost({ tools: [anyTool], host: store });
    const { host } = context;
    const human = { confirm: () => Promise.resolve("tool-always" as const) };
    await host.session({ agent: "a", level: "trusted", human }).call("mcp__fake__any", {});
    await host.grants.allow({ agent: "b", server: "fake" });
    await host.grants.revoke({ agent: "b" });
    const lines: AuditRow[] = [];
    for await (const line of host.audit.export()) {
      expect(line.endsWith("\n")).toBe(true);
      lines.push(JSON.parse(line) as AuditRow);
    }
    expect(lines.map(({ type, agent, code }) => [type, agent, code])).toEqual([
      ["consent-granted", "a", "tool-always"],
      ["call", "a", "ok"],
      ["grant-added", "b", undefined],
      ["grant-revoked", "b", undefined],
    ]);
  });

  it("a long id and many names are cut: rule, hash and effects are there all the same", async () => {
    const tools = Array.from({ length: 400 }, (_, index) => ({
      ...anyTool,
      name: `any_tool_with_a_name_${index}`,
    }));
    await using context = await recordedHost({ tools, host: store });
    const { host } = context;
    const callId = "c".repeat(10_000);
    const session = host.session({ agent: "a", level: "yolo" });
    await session.call("mcp__fake__any_tool_with_a_name_1", {}, { callId });
    await host.grants.allow({ agent: "a", server: "fake" });
    const [added, call] = await host.audit.query({ limit: 2 });
    const sideEffects = "possible";
    expect(call).toMatchObject({
      type: "call",
      code: "ok",
      detail: { consent: "yolo", sideEffects },
    });
    expect(call?.detail?.["argumentsHash"]).toHaveLength(24);
    expect(String(call?.detail?.["callId"])).toMatch(/^c{100,}…$/);
    const toolNames = added?.detail?.["toolNames"] as readonly string[];
    expect(toolNames.slice(0, 2)).toEqual(tools.slice(0, 2).map(({ name }) => name));
    expect(added?.detail?.["omitted"]).toEqual({ toolNames: 401 - toolNames.length });
  });

  it("holds the modes that were set and the end of consent, for one agent or for all", async () => {
    await using context = await recordedHost({ tools: [anyTool], host: store });
    const { host } = context;
    await host.connect("fake", { mode: "allow-all" });
    await host.connect("fake", { owner: "a", shared: true, mode: "ask-per-tool" });
    await host.disconnect("fake", { owner: "a" });
    await host.reconnect("fake", { mode: "allow-all" });
    await host.connect("fake");
    await host.disconnect("fake");
    await host.disconnectAll();
    const rows = (await host.audit.query()).toReversed();
    expect(rows.map(({ type, agent, server, code }) => [type, agent, server, code])).toEqual([
      ["consent-mode-set", undefined, "fake", "allow-all"],
      ["consent-mode-set", "a", "fake", "ask-per-tool"],
      ["consent-ended", "a", "fake", undefined],
      ["consent-mode-set", undefined, "fake", "allow-all"],
      ["consent-ended", undefined, "fake", undefined],
      ["consent-ended", undefined, "fake", undefined],
    ]);
  });

  it("B18: calls under way when the host closes are written down before the store closes", async () => {
    const root = await mkdtemp(path.join(tmpdir(), "audit-"));
    let count = 0;
    let allArrived = (): void => {};
    const arrived = new Promise<void>((resolve) => {
      allArrived = resolve;
    });
    const factory = createRecordedServer({
      tools: [anyTool],
      answers: () => {
        count += 1;
        if (count === 50) allArrived();
        return new Promise(() => {});
      },
    });
    const servers = { fake: () => createMemoryServer(factory).transport };
    const host = await createHost({ home: root, cwd: root, watch: false, servers });
    const session = host.session({ level: "yolo" });
    const calls = Array.from({ length: 50 }, () => session.call("mcp__fake__any", {}));
    await arrived;
    await host.close();
    for (const outcome of await Promise.all(calls)) expect(outcome.ok).toBe(false);
    await using later = await createHost({ home: root, cwd: root, watch: false, servers: {} });
    const rows = await later.audit.query({ type: "call", limit: 100 });
    expect(rows).toHaveLength(50);
    await rm(root, { recursive: true });
  });

  it("B18: so is the call of a native tool, in a host without any server", async () => {
    const root = await mkdtemp(path.join(tmpdir(), "audit-"));
    const open = () => createHost({ home: root, cwd: root, watch: false, servers: {} });
    const host = await open();
    const session = host.session({ level: "yolo" });
    let begun = (): void => {};
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    session.defineTool({
      name: "wait",
      description: "Waits for ever",
      inputSchema: { type: "object" },
      handler: () => {
        begun();
        return new Promise(() => {});
      },
    });
    const call = session.call("wait", {});
    await hasBegun;
    await host.close();
    expect(await call).toMatchObject({ error: { code: "closed" } });
    await using later = await open();
    expect(await later.audit.query({ type: "call" })).toMatchObject([{ code: "closed" }]);
    await rm(root, { recursive: true });
  });

  it("arguments that have no JSON at all are refused, and that is written down", async () => {
    await using context = await recordedHost({ tools: [anyTool], host: store });
    const session = context.host.session({ level: "yolo" });
    const args = (() => 1) as unknown as Record<string, unknown>;
    expect(await session.call("mcp__fake__any", args)).toMatchObject({ ok: false });
    expect(await context.host.audit.query({ type: "call" })).toHaveLength(1);
  });

  it("D8: an exported line has nothing in it that a terminal acts on, and says the same", async () => {
    await using context = await recordedHost({ tools: [anyTool], host: store });
    const { host } = context;
    const agent = "a\u202E\u009B31m";
    const callId = "c\u001B]0;x\u0007\u{E0041}";
    await host.session({ agent, level: "yolo" }).call("mcp__fake__any", {}, { callId });
    const lines: string[] = [];
    for await (const line of host.audit.export()) lines.push(line);
    expect(lines.join("")).toMatch(/^[ -~]+\n$/);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ agent, detail: { callId } });
  });

  it("I6: a secret that a model takes for the name of a tool is not written down", async () => {
    await using context = await recordedHost({ tools: [anyTool], host: store });
    const { host } = context;
    const session = host.session({ agent: "a", level: "yolo" });
    const secret = `ghp_${"canary0123456789".repeat(3)}`;
    for (const name of [secret, `Bearer ${secret}`, `${"x ".repeat(55)}${secret}`])
      expect(await session.call(name, {})).toMatchObject({ ok: false });
    const rows = await host.audit.query({ code: "tool_unknown" });
    expect(rows).toHaveLength(3);
    expect(JSON.stringify(rows)).not.toContain("canary");
    for (const { detail } of rows) expect(detail?.["publicName"]).toContain("[redacted]");
  });

  it("is found by how it ended, and from a row on", async () => {
    await using context = await recordedHost({ tools: [anyTool, strict], host: store });
    const { host } = context;
    const session = host.session({ agent: "a", level: "yolo" });
    await host.connect("fake", { mode: "allow-all" });
    await session.call("mcp__fake__any", {});
    await session.call("mcp__fake__strict", {});
    const rows = (await host.audit.query({})).toReversed();
    const codes = (found: readonly AuditRow[]) => found.map(({ code }) => code);
    expect(codes(rows)).toEqual(["allow-all", "ok", "invalid_arguments"]);
    expect(codes(await host.audit.query({ outcome: "ok" }))).toEqual(["ok"]);
    expect(codes(await host.audit.query({ outcome: "failed" }))).toEqual(["invalid_arguments"]);
    for (const [index, { seq }] of rows.entries()) {
      const after: string[] = [];
      for await (const line of host.audit.export({ after: seq })) after.push(line);
      expect(after).toHaveLength(rows.length - index - 1);
      expect(await host.audit.query({ after: seq })).toHaveLength(rows.length - index - 1);
    }
    await expect(host.audit.query({ after: Number.NaN })).rejects.toMatchObject({
      code: "config_invalid",
    });
    await expect(host.audit.query({ outcome: "good" as "ok" })).rejects.toMatchObject({
      code: "invalid_arguments",
    });
  });

  it("is followed from now on, or from a row on, by any host of the store", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "audit-"));
    const file: HostOptions = { store: path.join(folder, "audit.db") };
    {
      await using writer = await recordedHost({ tools: [anyTool, strict], host: file });
      await using reader = await recordedHost({ tools: [], host: file });
      const session = writer.host.session({ agent: "a", level: "yolo" });
      await session.call("mcp__fake__any", {}, { callId: "before" });
      const [past] = await writer.host.audit.query({});
      const stop = new AbortController();
      const ids = async (after?: number): Promise<readonly unknown[]> => {
        const seen: unknown[] = [];
        const options = { tool: "any", signal: stop.signal, after };
        for await (const { detail } of reader.host.audit.follow(options)) {
          seen.push(detail?.["callId"]);
          if (seen.at(-1) === "last") break;
        }
        return seen;
      };
      const fromNow = ids();
      const fromStart = ids((past?.seq ?? 0) - 1);
      // The follower has looked once when another answer of its store is there.
      await reader.host.audit.query({});
      await session.call("mcp__fake__strict", { n: 1 }, { callId: "other" });
      await writer.host.audit.query({});
      await session.call("mcp__fake__any", {}, { callId: "last" });
      expect(await fromNow).toEqual(["last"]);
      expect(await fromStart).toEqual(["before", "last"]);
      const endless = ids();
      stop.abort();
      expect(await endless).toEqual([]);
    }
    await rm(folder, { recursive: true });
  });

  it("a closed host has no answer, rather than an empty one", async () => {
    const context = await recordedHost({ tools: [anyTool], host: store });
    const { host } = context;
    await host.session({ level: "yolo" }).call("mcp__fake__any", {});
    const late = host.audit.query();
    await host.close();
    await late.then(
      (rows) => expect(rows).toHaveLength(1),
      (error: unknown) => expect(error).toMatchObject({ code: "closed" }),
    );
    await expect(host.audit.query()).rejects.toMatchObject({ code: "closed" });
    await expect(host.audit.export().next()).rejects.toMatchObject({ code: "closed" });
    await context[Symbol.asyncDispose]();
  });

  it("a host that keeps nothing has none", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    await context.host.session({ level: "yolo" }).call("mcp__fake__any", {});
    expect(await context.host.audit.query()).toEqual([]);
  });
});
