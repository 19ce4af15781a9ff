import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import type { ProtocolEra } from "../../src/protocol/wire/protocol-versions.ts";
import { createDemoServer } from "../../src/testing/demo-server.ts";
import { serveHttp } from "../../src/testing/serve/serve-http.ts";
import { demoServerEntry, testServerEntry } from "../../src/testing/stdio-entry.ts";
import { createTestServer } from "../../src/testing/test-server.ts";
import { createStreamableHttpTransport } from "../../src/transport/dialects/streamable-http-transport.ts";
import type { HostTransport } from "../../src/transport/host-transport.ts";
import { createStdioTransport } from "../../src/transport/stdio/stdio-transport.ts";
import { realServer } from "../fixtures/servers/real-servers.ts";
import { type Performance, recordTranscript } from "./record-transcript.ts";
import { transportParts } from "./stage.ts";
import type { Operation } from "./transcript.ts";

// Records anew what is under transcripts/: ORACLE_RECORD=1 npx vitest run tests/oracle -t recording

const call = (name: string, args: Readonly<Record<string, unknown>> = {}): Operation => ({
  do: "callTool",
  name,
  args,
});

const testOperations: readonly Operation[] = [
  { do: "listTools" },
  call("echo", { message: "hello" }),
  { ...call("add", { a: 2, b: 3 }), concurrent: true } as Operation,
  call("echo", { message: "" }),
  call("add", { a: "two" }),
  call("nothing_of_the_sort"),
  { do: "ping" },
];

const demoOperations: readonly Operation[] = [
  ...testOperations,
  { do: "callTool", name: "slow", args: { steps: 2, delayMs: 1 }, progress: true },
  call("fail"),
  call("ask_name"),
  call("delete_note", { id: "n1" }),
  { do: "request", method: "resources/list" },
  { do: "request", method: "prompts/list" },
  { do: "request", method: "resources/read", params: { uri: "demo://nothing" } },
];

const everythingOperations: readonly Operation[] = [
  { do: "listTools" },
  call("echo", { message: "hello" }),
  call("get-sum", { a: 2, b: 3 }),
  call("get-sum", { a: "two" }),
  call("get-annotated-message", { messageType: "success", includeImage: false }),
  call("get-structured-content", { location: "New York" }),
  call("get-resource-links", { count: 2 }),
  {
    do: "callTool",
    name: "trigger-long-running-operation",
    args: { duration: 0.1, steps: 2 },
    progress: true,
  },
  { do: "ping" },
  { do: "request", method: "prompts/list" },
  { do: "request", method: "example/unknown" },
];

function filesystemOperations(folder: string): readonly Operation[] {
  const file = path.join(folder, "notes.txt");
  return [
    { do: "listTools" },
    call("list_allowed_directories"),
    call("write_file", { path: file, content: "one\ntwo\n" }),
    call("read_text_file", { path: file, head: 1 }),
    call("list_directory", { path: folder }),
    call("read_text_file", { path: "/elsewhere.txt" }),
    { do: "ping" },
  ];
}

const memoryOperations: readonly Operation[] = [
  { do: "listTools" },
  call("create_entities", {
    entities: [{ name: "Ada", entityType: "person", observations: ["wrote programs"] }],
  }),
  call("search_nodes", { query: "Ada" }),
  call("open_nodes", { names: ["nobody"] }),
  call("create_entities", { entities: "none" }),
  { do: "ping" },
];

function overStdio(
  entry: { readonly command: string; readonly args: readonly string[] },
  env: Readonly<Record<string, string>> = {},
): HostTransport {
  return createStdioTransport({ ...transportParts, ...entry, env });
}

/** Does `act` with a folder of its own, which is called something else in what is kept. */
async function inFolder(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "oracle-"));
  try {
    await act(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function record(performance: Performance, folder?: string): Promise<void> {
  const transcript = await recordTranscript(performance);
  const text = JSON.stringify(transcript, undefined, 2);
  const clean = folder === undefined ? text : text.replaceAll(folder, "/srv/files");
  expect(clean).not.toContain(tmpdir());
  writeFileSync(
    path.join(import.meta.dirname, "transcripts", `${transcript.name}.json`),
    `${clean}\n`,
  );
}

describe("recording", () => {
  it("server-everything", async () => {
    await record({
      name: "server-everything",
      era: "legacy",
      transport: overStdio(realServer("server-everything", "stdio")),
      operations: everythingOperations,
    });
  });

  it("server-filesystem", async () => {
    await inFolder(async (folder) => {
      await record(
        {
          name: "server-filesystem",
          era: "legacy",
          transport: overStdio(realServer("server-filesystem", folder)),
          operations: filesystemOperations(folder),
        },
        folder,
      );
    });
  });

  it("server-memory", async () => {
    await inFolder(async (folder) => {
      const env = { MEMORY_FILE_PATH: path.join(folder, "memory.jsonl") };
      await record({
        name: "server-memory",
        era: "legacy",
        transport: overStdio(realServer("server-memory"), env),
        operations: memoryOperations,
      });
    });
  });

  describe.each(["legacy", "modern"] as const satisfies readonly ProtocolEra[])("%s", (era) => {
    it.each([
      ["test", testServerEntry, testOperations],
      ["demo", demoServerEntry, [...demoOperations, call("crash")]],
    ] as const)("%s server over stdio", async (server, entryOf, operations) => {
      await record({
        name: `${server}-${era}-stdio`,
        era,
        transport: overStdio(entryOf({ era, pageSize: 3 })),
        operations,
      });
    });

    it.each([
      ["test", createTestServer, testOperations],
      ["demo", createDemoServer, demoOperations],
    ] as const)("%s server over HTTP", async (server, create, operations) => {
      const http = await serveHttp(create({ pageSize: 3 }), { era });
      try {
        await record({
          name: `${server}-${era}-http`,
          era,
          // A refusal of the probe that is only an HTTP status could not be played over a pipe.
          negotiation: era === "legacy" ? "known" : "auto",
          transport: createStreamableHttpTransport({
            ...transportParts,
            url: http.url,
            headers: {},
            method: "POST",
          }),
          operations,
        });
      } finally {
        await http.close();
      }
    });
  });
});
