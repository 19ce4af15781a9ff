import {
  type Transport,
  Client,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  type McpServerFactory,
  createDemoServer,
  createMemoryServer,
  createTestServer,
  demoServerEntry,
  serveHttp,
} from "./index.ts";

// The SDK's own client judges every bundled server over every transport and in both eras.

const eras = [
  ["2025-11-25", { mode: "legacy" }],
  ["2026-07-28", { mode: { pin: "2026-07-28" } }],
] as const;

interface Served {
  readonly transport: Transport;
  close(): Promise<void>;
}

const ways: Record<string, (factory: McpServerFactory) => Promise<Served>> = {
  memory: async (factory) => createMemoryServer(factory),
  http: async (factory) => {
    const server = await serveHttp(factory, { sessions: true });
    return {
      transport: new StreamableHTTPClientTransport(new URL(server.url)),
      close: () => server.close(),
    };
  },
  // A child process runs the bundled entry; the factory of the test stays unused.
  stdio: async () => {
    const { command, args } = demoServerEntry();
    const transport = new StdioClientTransport({ command, args: [...args], stderr: "inherit" });
    return { transport, close: () => transport.close() };
  },
};

function text(result: unknown): string {
  return (result as { content: { text: string }[] }).content.map((block) => block.text).join("\n");
}

describe.each(Object.keys(ways))("the demo server over %s", (way) => {
  describe.each(eras)("in protocol %s", (version, versionNegotiation) => {
    let served: Served;
    let client: Client;

    beforeAll(async () => {
      served = await ways[way]!(createDemoServer());
      client = new Client(
        { name: "judge", version: "1.0.0" },
        { versionNegotiation, capabilities: { elicitation: {} } },
      );
      await client.connect(served.transport);
    });

    afterAll(async () => {
      await client.close();
      await served.close();
    });

    it("speaks the era it was asked for", () => {
      expect(client.getNegotiatedProtocolVersion()).toBe(version);
      expect(client.getServerVersion()).toMatchObject({ name: "plugboard-demo" });
    });

    it("TST-04: lists the test tools first and in order, then the demo tools", async () => {
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).toEqual([
        "echo",
        "get_time",
        "add",
        "slow",
        "fail",
        "crash",
        "delete_note",
        "ask_name",
      ]);
    });

    it("B-N33: claims exactly these tools read-only and these destructive", async () => {
      const { tools } = await client.listTools();
      const claiming = (hint: "readOnlyHint" | "destructiveHint") =>
        tools.filter((tool) => tool.annotations?.[hint] === true).map((tool) => tool.name);
      expect(claiming("readOnlyHint")).toEqual(["echo", "get_time", "add", "slow"]);
      expect(claiming("destructiveHint")).toEqual(["delete_note"]);
    });

    it("TST-01, TST-02, TST-03: echo, add and get_time answer as text", async () => {
      const message = "Grüße\n\u0000 and a line";
      const echoed = await client.callTool({ name: "echo", arguments: { message } });
      expect(echoed.content).toEqual([{ type: "text", text: message }]);
      const sum = await client.callTool({ name: "add", arguments: { a: 2, b: 3 } });
      expect(sum.content).toEqual([{ type: "text", text: "5" }]);
      const time = text(await client.callTool({ name: "get_time", arguments: {} }));
      expect(new Date(time).toISOString()).toBe(time);
    });

    it("answers arguments that break the schema with an error result", async () => {
      const result = await client.callTool({ name: "add", arguments: { a: "two", b: 3 } });
      expect(result.isError).toBe(true);
      expect(text(result)).toContain("Invalid arguments for tool add");
    });

    it("TST-08: answers an unknown tool with -32602 and an unknown method with -32601", async () => {
      await expect(client.callTool({ name: "nope", arguments: {} })).rejects.toMatchObject({
        code: -32_602,
      });
      const unknown: unknown = await client
        .request({ method: "tools/nope" }, anything)
        .catch((error: unknown) => error);
      // Over modern HTTP it comes with status 404, which this client reports with the body as text.
      const { code, message } = unknown as { code: unknown; message: string };
      expect(`${String(code)} ${message}`).toContain("-32601");
    });

    it("B-N33: slow reports every step", async () => {
      // Observed on the wire: this client forgets progress that arrives together with the result.
      const seen: unknown[] = [];
      const { onmessage } = served.transport;
      served.transport.onmessage = (message, extra) => {
        if ("method" in message && message.method === "notifications/progress")
          seen.push([message.params?.["progress"], message.params?.["total"]]);
        onmessage?.(message, extra);
      };
      const slow = { name: "slow", arguments: { steps: 3, delayMs: 1 } };
      const result = await client.callTool(slow, { onprogress() {} });
      served.transport.onmessage = onmessage;
      expect(seen).toEqual([
        [1, 3],
        [2, 3],
        [3, 3],
      ]);
      expect(text(result)).toBe("Finished 3 steps.");
    });

    it("slow can be cancelled while it runs, and the server goes on answering", async () => {
      const abort = new AbortController();
      const call = client.callTool(
        { name: "slow", arguments: { steps: 100, delayMs: 200 } },
        { signal: abort.signal, onprogress: () => abort.abort("enough") },
      );
      await expect(call).rejects.toThrow("enough");
      expect(text(await client.callTool({ name: "echo", arguments: { message: "on" } }))).toBe(
        "on",
      );
    });

    it("fail answers with an error result", async () => {
      expect(await client.callTool({ name: "fail", arguments: {} })).toMatchObject({
        isError: true,
      });
    });

    it("delete_note deletes a note once", async () => {
      const note = { name: "delete_note", arguments: { id: "n2" } };
      expect(text(await client.callTool(note))).toBe("Deleted note n2.");
      expect(await client.callTool(note)).toMatchObject({ isError: true });
    });

    it.each([
      ["accept", { action: "accept", content: { name: "Ada" } }, "Hello, Ada!"],
      ["decline", { action: "decline" }, "You kept your name to yourself."],
      ["cancel", { action: "cancel" }, "You kept your name to yourself."],
    ] as const)("ask_name takes %s for an answer", async (_action, answer, expected) => {
      client.setRequestHandler("elicitation/create", () => answer);
      expect(text(await client.callTool({ name: "ask_name", arguments: {} }))).toBe(expected);
    });

    it("B-N33: offers resources and prompts", async () => {
      const { resources } = await client.listResources();
      expect(resources.map((resource) => resource.uri)).toEqual([
        "file:///readme.txt",
        "file:///config.json",
        "file:///data/users.csv",
      ]);
      const { contents } = await client.readResource({ uri: "file:///config.json" });
      expect(contents).toMatchObject([
        { mimeType: "application/json", uri: "file:///config.json" },
      ]);
      await expect(client.readResource({ uri: "file:///gone" })).rejects.toMatchObject({
        code: -32_602,
      });

      const { prompts } = await client.listPrompts();
      expect(prompts.map((prompt) => prompt.name)).toEqual(["greeting", "code_review"]);
      const greeting = await client.getPrompt({ name: "greeting", arguments: { name: "Ada" } });
      expect(greeting.messages).toMatchObject([
        { content: { text: expect.stringContaining("Ada") } },
      ]);
      for (const name of ["greeting", "nope"])
        await expect(client.getPrompt({ name })).rejects.toMatchObject({ code: -32_602 });
    });
  });
});

describe.each(["memory", "http"])("over %s", (way) => {
  describe.each(eras)("in protocol %s", (_version, versionNegotiation) => {
    async function withClient(
      factory: McpServerFactory,
      use: (client: Client) => Promise<void>,
    ): Promise<void> {
      const served = await ways[way]!(factory);
      const client = new Client({ name: "judge", version: "1.0.0" }, { versionNegotiation });
      try {
        await client.connect(served.transport);
        await use(client);
      } finally {
        await client.close();
        await served.close();
      }
    }

    it("TST-04: the test server has exactly echo, get_time and add", async () => {
      await withClient(createTestServer(), async (client) => {
        const { tools } = await client.listTools();
        expect(tools.map((tool) => tool.name)).toEqual(["echo", "get_time", "add"]);
        expect(tools[2]!.inputSchema).toMatchObject({ type: "object", required: ["a", "b"] });
      });
    });

    it("TST-03: get_time reads the clock it was given", async () => {
      const clock = { now: () => 0, monotonic: () => 0, schedule: () => ({ cancel() {} }) };
      await withClient(createTestServer({ clock }), async (client) => {
        const result = await client.callTool({ name: "get_time", arguments: {} });
        expect(text(result)).toBe("1970-01-01T00:00:00.000Z");
      });
    });

    it("B-N33: a page size splits every list, and the pages together are the whole", async () => {
      await withClient(createDemoServer({ pageSize: 3 }), async (client) => {
        const first = await client.request({ method: "tools/list", params: {} });
        expect(first.tools.map((tool) => tool.name)).toEqual(["echo", "get_time", "add"]);
        const last = await client.request({ method: "tools/list", params: { cursor: "6" } });
        expect(last.tools.map((tool) => tool.name)).toEqual(["delete_note", "ask_name"]);
        expect(last.nextCursor).toBeUndefined();

        expect((await client.listTools()).tools).toHaveLength(8);
        expect((await client.listResources()).resources).toHaveLength(3);
        expect((await client.listPrompts()).prompts).toHaveLength(2);
      });
    });

    it.each(["8", "0", "-1", "1.5", "x", ""])(
      "answers the cursor %j with -32602",
      async (cursor) => {
        await withClient(createDemoServer({ pageSize: 3 }), async (client) => {
          const listed = client.request({ method: "tools/list", params: { cursor } });
          await expect(listed).rejects.toMatchObject({ code: -32_602 });
        });
      },
    );

    it("ask_name answers a client without elicitation with an error result", async () => {
      await withClient(createDemoServer(), async (client) => {
        const result = await client.callTool({ name: "ask_name", arguments: {} });
        expect(result.isError).toBe(true);
        expect(text(result)).toContain("elicitation");
      });
    });

    it("crash answers with an error result where the server shares its process", async () => {
      await withClient(createDemoServer(), async (client) => {
        const result = await client.callTool({ name: "crash", arguments: {} });
        expect(result.isError).toBe(true);
      });
    });

    it("cancelling slow stops its timer", async () => {
      let stopped!: () => void;
      const timerStopped = new Promise<void>((resolve) => (stopped = resolve));
      const abort = new AbortController();
      const clock = {
        now: () => 0,
        monotonic: () => 0,
        schedule: () => {
          abort.abort("enough");
          return { cancel: stopped };
        },
      };
      await withClient(createDemoServer({ clock }), async (client) => {
        const call = client.callTool(
          { name: "slow", arguments: { steps: 1 } },
          { signal: abort.signal },
        );
        await expect(call).rejects.toThrow("enough");
        await timerStopped;
      });
    });
  });
});

it("refuses a page size that is no whole number of at least 1", () => {
  for (const pageSize of [0, -1, 2.5, Number.NaN])
    expect(() => createTestServer({ pageSize })).toThrow("at least 1");
});

const anything = {
  "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) },
} as const;
