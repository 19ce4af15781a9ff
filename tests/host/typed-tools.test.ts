import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, expectTypeOf, it } from "vitest";

import { createHost, createToolClient, type Naming, type Session } from "../../src/index.ts";
import { testServerEntry } from "../../src/testing/index.ts";
import { recordedHost } from "./recorded-host.ts";

const addTool = {
  name: "add-numbers",
  description: "Adds two numbers",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
  outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
};

interface FakeTools {
  readonly "add-numbers": {
    readonly params: { readonly a: number; readonly b: number };
    readonly result: { readonly sum: number };
  };
  readonly then: { readonly params: object; readonly result: unknown };
}

const clientOf = (session: Session, server = "fake") =>
  createToolClient<FakeTools>(session, server, ["add-numbers", "then"]);

const answers = () => ({ content: [], structuredContent: { sum: 5 } });

describe("host.emitTypes", () => {
  it("BRG-06, BRG-07: connects a server whose tools are unknown and writes a module for them", async () => {
    await using fake = await recordedHost({ tools: [addTool] });
    expect(await fake.host.emitTypes("fake")).toBe(
      `// The tools of the server "fake", for use with Plugboard. Generated: do not edit.
import { createToolClient, type Session, type ToolClient } from "plugboard";

/** Adds two numbers */
export interface FakeAddNumbersParams {
  readonly a: number;
  readonly b: number;
}

export interface FakeAddNumbersResult {
  readonly sum: number;
}

/** Each tool by its own name on the server. */
export interface FakeTools {
  /** Adds two numbers */
  readonly "add-numbers": {
    readonly params: FakeAddNumbersParams;
    readonly result: FakeAddNumbersResult;
  };
}

export type FakeClient = ToolClient<FakeTools>;

/** The tools as methods; calls take the same guarded path as \`session.call\`. */
export function fake(session: Session): FakeClient {
  return createToolClient<FakeTools>(session, "fake", ["add-numbers"]);
}
`,
    );
    expect(fake.calls).toEqual([]);
  });

  it("BRG-07: works from registered schemas, without a server", async () => {
    await using host = await createHost({ config: false });
    host.registerTools("offline", [{ name: "ping", inputSchema: {} }]);
    expect(await host.emitTypes("offline")).toContain(
      "export type OfflinePingParams = Readonly<Record<string, unknown>>;",
    );
  });

  it("fails as connecting does: unknown, switched off, not approved, closed, cancelled", async () => {
    const cwd = mkdtempSync(path.join(tmpdir(), "types-"));
    writeFileSync(
      path.join(cwd, ".mcp.json"),
      JSON.stringify({
        mcpServers: {
          project: testServerEntry(),
          off: { ...testServerEntry(), enabled: false },
        },
      }),
    );
    const host = await createHost({ cwd, store: false, servers: { known: testServerEntry() } });
    const codeOf = (name: string, signal?: AbortSignal) =>
      host.emitTypes(name, { signal }).then(
        () => "ok",
        (error: { code: string }) => error.code,
      );
    expect(await codeOf("knwon")).toBe("server_unknown");
    expect(await codeOf("off")).toBe("server_disabled");
    expect(await codeOf("project")).toBe("not_approved");
    expect(await codeOf("known", AbortSignal.abort())).toBe("cancelled");
    expect(await codeOf("known")).toBe("ok");
    await host.close();
    expect(await codeOf("known")).toBe("closed");
  });
});

describe("a typed client", () => {
  it.each<Naming>(["mcp__server__tool", "prefix_tool", (server, tool) => `${tool}_${server}`])(
    "BRG-07, BRG-12: calls the tool by where it comes from, whatever the session calls it: %s",
    async (naming) => {
      await using fake = await recordedHost({ tools: [addTool], answers, host: { naming } });
      const client = clientOf(fake.host.session({ level: "yolo" }));
      const outcome = await client["add-numbers"]({ a: 2, b: 3 });
      expect(outcome).toMatchObject({ ok: true, structured: { sum: 5 } });
      expect(fake.calls).toMatchObject([{ name: "add-numbers", arguments: { a: 2, b: 3 } }]);
    },
  );

  it("BRG-10: wrong arguments are an outcome that names the field", async () => {
    await using fake = await recordedHost({ tools: [addTool] });
    const client = clientOf(fake.host.session({ level: "yolo" }));
    const params = { a: 2 } as { readonly a: number; readonly b: number };
    expect(await client["add-numbers"](params)).toMatchObject({
      ok: false,
      error: { code: "invalid_arguments", message: expect.stringContaining('"b"') as string },
    });
    expect(fake.calls).toEqual([]);
  });

  it("resolves for a tool or a server that is not there, a session without rights, a call taken back", async () => {
    await using fake = await recordedHost({ tools: [addTool], answers });
    const { host } = fake;
    const params = { a: 1, b: 2 };
    const codeOf = async (session: Session, server?: string, signal?: AbortSignal) => {
      const outcome = await clientOf(session, server)["add-numbers"](params, { signal });
      return outcome.ok ? "ok" : outcome.error.code;
    };
    const yolo = host.session({ level: "yolo" });
    expect(await codeOf(yolo, "gone")).toBe("server_unknown");
    expect(await codeOf(yolo, "fake", AbortSignal.abort())).toBe("cancelled");
    expect(await codeOf(host.session())).toBe("denied");
    expect(await codeOf(yolo)).toBe("ok");
    host.registerTools("gone", []);
    expect(await codeOf(yolo, "gone")).toBe("tool_unknown");
  });

  it("never calls another tool that has the usual name", async () => {
    const naming = (_server: string, tool: string): string =>
      tool === "decoy" ? "mcp__fake__add-numbers" : `own_${tool}`;
    const decoy = { name: "decoy", inputSchema: { type: "object" } };
    await using fake = await recordedHost({ tools: [decoy], host: { naming } });
    const client = clientOf(fake.host.session({ level: "yolo" }));
    expect(await client["add-numbers"]({ a: 1, b: 2 })).toMatchObject({
      ok: false,
      error: { code: "tool_unknown" },
    });
    expect(fake.calls).toEqual([]);
  });

  it("BRG-07: offers camelCase beside the exact names, unless it is another tool's or several tools'", async () => {
    const names = ["get_time", "create-issue", "createIssue", "run_it", "run-it", "_then"] as const;
    type Tools = Readonly<
      Record<(typeof names)[number], { readonly params: object; readonly result: unknown }>
    >;
    const tools = names.map((name) => ({ name, inputSchema: { type: "object" } }));
    await using fake = await recordedHost({ tools });
    const session = fake.host.session({ level: "yolo" });
    const client = createToolClient<Tools>(session, "fake", names);
    await client.getTime({});
    await client.get_time({});
    await client["create-issue"]({});
    await client.createIssue({});
    expect(fake.calls.map(({ name }) => name)).toEqual([
      "get_time",
      "get_time",
      "create-issue",
      "createIssue",
    ]);
    // @ts-expect-error -- nobody could say which of the two
    expect(client.runIt).toBeUndefined();
    // @ts-expect-error -- the client would pass for a promise
    expect(client.then).toBeUndefined();
    expect(Object.keys(client)).toEqual([...names, "getTime"]);
    expectTypeOf<keyof typeof client>().toEqualTypeOf<(typeof names)[number] | "getTime">();
  });

  it("is no promise, even for a server with a tool called then", async () => {
    await using fake = await recordedHost({ tools: [addTool] });
    const client = clientOf(fake.host.session({ level: "yolo" }));
    expect(Object.keys(client)).toEqual(["add-numbers", "addNumbers"]);
    expect(await Promise.resolve(client)).toBe(client);
  });

  it("BRG-08: what a person is asked about is frozen, all the way down", async () => {
    const asked: unknown[] = [];
    const tool = { ...addTool, inputSchema: { type: "object" }, outputSchema: undefined };
    await using fake = await recordedHost({
      tools: [tool],
      host: {
        human: {
          confirm: async (question) => {
            if (question.kind === "tool-call") asked.push(question.arguments);
            return "once";
          },
        },
      },
    });
    const session = fake.host.session({ level: "trusted" });
    const params = { a: 1, b: 2, inner: { list: [1] } };
    const outcome = await clientOf(session)["add-numbers"](params);
    expect(outcome.ok).toBe(true);
    const [seen] = asked as [typeof params];
    for (const part of [seen, seen.inner, seen.inner.list])
      expect(Object.isFrozen(part)).toBe(true);
    expect(Object.isFrozen(params)).toBe(false);
  });
});
