import { mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost, type McpHost, type Progress } from "../../src/index.ts";
import {
  type RunningHttpServer,
  realServer,
  startEverythingOverHttp,
  startEverythingOverSse,
} from "../fixtures/servers/real-servers.ts";

/** A host with one published server under the name `real`, and a session that need not ask. */
async function hostWith(entry: Readonly<Record<string, unknown>>) {
  const host = await createHost({ config: false, servers: { real: entry } });
  const session = host.session({ agent: "e2e", level: "yolo" });
  await host.connect("real");
  return { host, session, [Symbol.asyncDispose]: () => host.close() };
}

async function overStdio() {
  const context = await hostWith(realServer("server-everything", "stdio"));
  return { ...context, [Symbol.asyncDispose]: () => context.host.close() };
}

async function overHttp() {
  return await overUrl(await startEverythingOverHttp(), "streamable-http");
}

async function overSse() {
  return await overUrl(await startEverythingOverSse(), "sse");
}

async function overUrl(server: RunningHttpServer, transport: string) {
  const context = await hostWith({ url: server.url, transport }).catch(async (error: unknown) => {
    await server[Symbol.asyncDispose]();
    throw error;
  });
  return {
    ...context,
    async [Symbol.asyncDispose]() {
      await context.host.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe.each([
  ["stdio", overStdio],
  ["streamable HTTP", overHttp],
  ["HTTP+SSE", overSse],
])("@modelcontextprotocol/server-everything over %s", (_, start) => {
  it("DSC-01 DSC-02: lists its tools under public names", async () => {
    await using context = await start();
    const names = context.session.tools().map((tool) => tool.name);
    expect(names).toContain("mcp__real__echo");
    expect(names).toContain("mcp__real__get-sum");
    expect(context.host.server("real")).toMatchObject({ state: "connected", era: "legacy" });
  });

  it("RES-01 RES-15: calls a tool and gets its text", async () => {
    await using context = await start();
    const outcome = await context.session.call("mcp__real__get-sum", { a: 2, b: 3 });
    expect(outcome).toMatchObject({ ok: true, text: "The sum of 2 and 3 is 5." });
  });

  it("BRG-23 RES-19: structured content arrives checked", async () => {
    await using context = await start();
    const outcome = await context.session.call("mcp__real__get-structured-content", {
      location: "New York",
    });
    expect(outcome.ok).toBe(true);
    expect(outcome.structured).toMatchObject({ temperature: expect.any(Number) as number });
  });

  it("RES-16: an image is kept and shown as a placeholder", async () => {
    await using context = await start();
    const outcome = await context.session.call("mcp__real__get-tiny-image");
    expect(outcome.text).toMatch(/\[image: image\/png, \d+ (?:B|KB)\]/);
    expect(outcome.content.map(({ type }) => type)).toContain("image");
  });

  it("BRG-03: a wrong argument is refused before anything is sent", async () => {
    await using context = await start();
    const outcome = await context.session.call("mcp__real__get-sum", { a: "two", b: 3 });
    expect(outcome).toMatchObject({
      ok: false,
      sideEffects: "none",
      error: { code: "invalid_arguments" },
    });
  });

  it("reports progress while a long call runs", async () => {
    await using context = await start();
    const seen: Progress[] = [];
    const outcome = await context.session.call(
      "mcp__real__trigger-long-running-operation",
      { duration: 0.3, steps: 3 },
      { onProgress: (progress) => seen.push(progress) },
    );
    expect(outcome.ok).toBe(true);
    expect(seen.map(({ progress, total }) => `${progress}/${total}`)).toEqual([
      "1/3",
      "2/3",
      "3/3",
    ]);
  });

  it("PRO-22: a cancelled call ends at once and the connection goes on", async () => {
    await using context = await start();
    const abort = new AbortController();
    const outcome = await context.session.call(
      "mcp__real__trigger-long-running-operation",
      { duration: 60, steps: 600 },
      { signal: abort.signal, onProgress: () => abort.abort() },
    );
    expect(outcome).toMatchObject({ ok: false, error: { code: "cancelled" } });
    const next = await context.session.call("mcp__real__echo", { message: "still here" });
    expect(next.text).toContain("still here");
  });
});

describe("@modelcontextprotocol/server-filesystem", () => {
  async function withFolder(): Promise<
    { folder: string; host: McpHost } & Awaited<ReturnType<typeof hostWith>>
  > {
    const folder = await realpath(await mkdtemp(path.join(tmpdir(), "files-")));
    await writeFile(path.join(folder, "note.txt"), "remember the milk");
    const context = await hostWith(realServer("server-filesystem", folder));
    return { ...context, folder, [Symbol.asyncDispose]: () => context.host.close() };
  }

  it("lists and reads", async () => {
    await using context = await withFolder();
    const outcome = await context.session.call("mcp__real__read_text_file", {
      path: path.join(context.folder, "note.txt"),
    });
    expect(outcome).toMatchObject({ ok: true, text: "remember the milk" });
  });

  it("RES-10 RES-20: an error of the tool is an outcome that keeps the server's words", async () => {
    await using context = await withFolder();
    const outcome = await context.session.call("mcp__real__read_text_file", {
      path: "/etc/passwd",
    });
    expect(outcome).toMatchObject({ ok: false, error: { code: "tool_error" } });
    expect(outcome.ok ? "" : outcome.error.message).toMatch(/access denied/i);
    expect(outcome.content).toHaveLength(1);
  });

  it("CFG-33 CFG-34 DSC-12: filtered tools are neither listed nor callable", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "files-"));
    await using context = await hostWith({
      ...realServer("server-filesystem", folder),
      enabledTools: ["list_directory", "write_file"],
      disabledTools: ["write_file"],
    });
    expect(context.session.tools().map((tool) => tool.originalName)).toEqual(["list_directory"]);
    const outcome = await context.session.call("mcp__real__write_file", {
      path: "x",
      content: "y",
    });
    expect(outcome).toMatchObject({ ok: false, error: { code: "tool_unknown" } });
  });
});

describe("@modelcontextprotocol/server-memory", () => {
  it("keeps what it is told", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "memory-"));
    await using context = await hostWith({
      ...realServer("server-memory"),
      env: { MEMORY_FILE_PATH: path.join(folder, "memory.json") },
    });
    const entities = [{ name: "Plugboard", entityType: "product", observations: ["guards calls"] }];
    const created = await context.session.call("mcp__real__create_entities", { entities });
    expect(created.ok).toBe(true);
    const found = await context.session.call("mcp__real__search_nodes", { query: "Plugboard" });
    expect(found.structured).toMatchObject({ entities });
  });
});
