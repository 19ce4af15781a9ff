import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost, type HostEvent } from "../../src/index.ts";
import { testServerEntry } from "../../src/testing/index.ts";
import { scriptedHuman } from "../fixtures/agent/scripted-human.ts";
import { DatabaseSync } from "../fixtures/store/database-sync.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

describe("allowing", () => {
  it("PRM-22: a server without a tool that may be covered is granted what it offers beside tools", async () => {
    const destructive = { ...anyTool, annotations: { destructiveHint: true } };
    await using context = await recordedHost({ tools: [destructive] });
    const { host } = context;
    const events: HostEvent[] = [];
    host.on("grant-added", (event) => void events.push(event));
    expect(await host.grants.allow({ agent: "a", server: "fake" })).toMatchObject([
      { tool: "(content)" },
    ]);
    const all = { agent: "a", server: "fake", includeDestructive: true };
    expect(await host.grants.allow(all)).toHaveLength(2);
    expect(events).toMatchObject([
      { type: "grant-added", toolNames: ["(content)"] },
      { type: "grant-added", toolNames: ["any", "(content)"] },
    ]);
  });

  it.each([false, ":memory:"] as const)(
    "PRM-22: an end that is no time is refused, not taken for none (store: %s)",
    async (store) => {
      await using context = await recordedHost({ tools: [anyTool], host: { store } });
      const { host } = context;
      for (const end of [Number.NaN, "2099-01-01", "9999999999999", new Date(), null]) {
        const expiresAt = end as number;
        await expect(
          host.grants.allow({ agent: "a", server: "fake", tool: "any", expiresAt }),
        ).rejects.toMatchObject({ code: "config_invalid" });
      }
      expect(host.grants.list()).toEqual([]);
    },
  );
});

describe("taking back", () => {
  it("PRM-22: from a server that does not exist takes back nothing, and nobody is told", async () => {
    await using context = await recordedHost({ tools: [anyTool] });
    const { host } = context;
    const events: HostEvent[] = [];
    host.on("grant-revoked", (event) => void events.push(event));
    expect(await host.grants.revoke({ server: "nope" })).toBe(0);
    expect(events).toEqual([]);
    expect(await host.grants.revoke({ server: "fake" })).toBe(0);
    expect(events).toMatchObject([{ type: "grant-revoked", serverName: "fake" }]);
  });

  it("PRM-22: a grant does not come back with a configuration that is read at the same time", async () => {
    await using context = await recordedHost({ tools: [anyTool], host: { store: ":memory:" } });
    const { host } = context;
    const session = host.session({ agent: "a", level: "trusted" });
    for (let moment = 0; moment < 60; moment += 1) {
      await host.grants.allow({ agent: "a", server: "fake", tool: "any" });
      expect(await session.call("mcp__fake__any", {})).toMatchObject({ ok: true });
      const reloading = host.reload();
      for (let step = 0; step < moment; step += 1) await Promise.resolve();
      const revoking = host.grants.revoke({ agent: "a" });
      const during = session.call("mcp__fake__any", {});
      expect(await revoking, `after ${moment} steps`).toBe(1);
      await reloading;
      expect(host.grants.list(), `after ${moment} steps`).toEqual([]);
      const after = session.call("mcp__fake__any", {});
      for (const outcome of await Promise.all([during, after]))
        expect(outcome, `after ${moment} steps`).toMatchObject({
          error: { code: "consent_denied" },
        });
    }
  });

  it("PRM-22: ends what sessions were allowed at once, before the store has been written", async () => {
    await using context = await recordedHost({ tools: [anyTool], host: { store: ":memory:" } });
    const { host, calls } = context;
    const { human, questions } = scriptedHuman("tool-always", "no");
    const session = host.session({ agent: "a", level: "trusted", human });
    expect(await session.call("mcp__fake__any", {})).toMatchObject({ ok: true });
    const revoking = host.grants.revoke({ agent: "a" });
    expect(await session.call("mcp__fake__any", {})).toMatchObject({
      error: { code: "consent_denied" },
    });
    expect([questions.length, calls.length, await revoking]).toEqual([2, 1, 1]);
  });

  it("PRM-22: counts here also when the store cannot be written, which is told", async () => {
    const root = await mkdtemp(path.join(tmpdir(), "grants-"));
    const store = path.join(root, "s.db");
    {
      await using context = await recordedHost({ tools: [anyTool], host: { store } });
      const { host } = context;
      const events: HostEvent[] = [];
      host.on("grant-revoked", (event) => void events.push(event));
      const { human, questions } = scriptedHuman("tool-always", "no", "no");
      const session = host.session({ agent: "a", level: "trusted", human });
      expect(await session.call("mcp__fake__any", {})).toMatchObject({ ok: true });
      const vandal = new DatabaseSync(store);
      vandal.exec(
        "CREATE TRIGGER refuse BEFORE DELETE ON grants BEGIN SELECT RAISE(ABORT, 'no'); END",
      );
      await expect(host.grants.revoke({ agent: "a" })).rejects.toMatchObject({
        code: "store_failed",
      });
      expect(events).toMatchObject([{ type: "grant-revoked", agent: "a" }]);
      expect(await session.call("mcp__fake__any", {})).toMatchObject({ ok: false });
      // The store still has it.
      await host.reload();
      expect(host.grants.list()).toEqual([]);
      expect(await session.call("mcp__fake__any", {})).toMatchObject({ ok: false });
      expect(questions).toHaveLength(3);
      vandal.exec("DROP TRIGGER refuse");
      vandal.close();
      expect(await host.grants.revoke({ agent: "a" })).toBe(1);
    }
    await rm(root, { recursive: true });
  });
});

describe("two entries that start the same", () => {
  it("PRM-22: a grant is listed and taken back under either name", async () => {
    const servers = { a: testServerEntry(), b: testServerEntry() };
    await using host = await createHost({ config: false, servers });
    const allowed = await host.grants.allow({ agent: "main", server: "b", tool: "add" });
    expect(allowed).toMatchObject([{ agent: "main", server: "b", tool: "add" }]);
    for (const server of ["a", "b"])
      expect(host.grants.list({ server })).toMatchObject([{ server, tool: "add" }]);
    expect(host.grants.list()).toHaveLength(1);
    expect(host.grants.list({ server: "c" })).toEqual([]);
    const session = host.session({ level: "trusted" });
    expect(await session.call("mcp__b__add", { a: 1, b: 2 })).toMatchObject({ text: "3" });
    expect(await host.grants.revoke({ server: "c" })).toBe(0);
    expect(await host.grants.revoke({ agent: "main", server: "b" })).toBe(1);
    expect(await session.call("mcp__b__add", { a: 1, b: 2 })).toMatchObject({
      error: { code: "consent_denied" },
    });
    expect(host.grants.list()).toEqual([]);
  });

  it("PRM-22: what was allowed in a session ends under either name as well", async () => {
    const servers = { a: testServerEntry(), b: testServerEntry() };
    await using host = await createHost({ config: false, servers });
    const { human, questions } = scriptedHuman("tool-always");
    const session = host.session({ level: "trusted", human });
    expect(await session.call("mcp__a__add", { a: 1, b: 2 })).toMatchObject({ ok: true });
    expect(await host.grants.revoke({ server: "b" })).toBe(1);
    expect(await session.call("mcp__a__add", { a: 1, b: 2 })).toMatchObject({ ok: false });
    expect(questions).toHaveLength(2);
  });
});
