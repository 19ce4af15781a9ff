import { execFile } from "node:child_process";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

import { createHost } from "../../src/index.ts";
import { createTestServer, serveHttp, serveSse, testServerEntry } from "../../src/testing/index.ts";
import { hangsAfterMs } from "../setup/hang-limit.ts";

const programs = path.join(import.meta.dirname, "../fixtures/programs");
/** A program that does not end is killed, and that is an error, as is any exit code but 0. */
const limits = { timeout: hangsAfterMs };

/** What the program prints when the wait is over. */
const awaited = {
  "a call while its server is being started again": "start_exit",
  "session.call": "timeout",
  "session.execute": "timeout",
  "session.stream": "timeout",
  "a tool's execute": "timeout",
  "a typed client": "timeout",
  "host.client": "timeout",
  "a native tool": "timeout",
  "session.transaction": "over",
  "a question to a person": "cancelled",
  "session.ready": "mute",
  "section.connect": "start_timeout",
  "section.ready": "start_timeout",
  "host.connect": "start_timeout",
  "host.connectAll": '{"mute":false}',
  "host.reconnect": "start_timeout",
  "host.checkConnections": "taciturn",
  "host.emitTypes": "start_timeout",
  "host.close": "closed",
  "content.resources": "timeout",
  "content.prompts": "timeout",
  "content.readResource": "timeout",
  "a watched resource": "updated",
  "audit.query": "timeout",
  "audit.export": "timeout",
  connectClient: "start_timeout",
  "a client's callTool": "timeout",
  "wire.connect": "start_timeout",
  "wire.sendRequest": "timeout",
} as const;

async function run(program: string, ...args: readonly string[]): Promise<string> {
  const file = path.join(programs, program);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file, ...args], limits);
  expect(stderr).toBe("");
  return stdout;
}

describe.concurrent.each([
  ["an ES module", "waiting-program.mjs"],
  ["a CommonJS program", "waiting-program.cjs"],
])("CON-19: %s does not end while it awaits", (_kind, program) => {
  it.each(Object.entries(awaited))("%s", async (thing, printed) => {
    await expect(run(program, thing)).resolves.toBe(`${printed}\n`);
  });
});

describe.skipIf(process.platform === "win32")("a program that forgets to close", () => {
  it("CON-19 STD-24: ends all the same, after its servers ended and its calls were written down", async () => {
    const web = await serveHttp(createTestServer());
    const sse = await serveSse(createTestServer());
    const folder = await mkdtemp(path.join(tmpdir(), "plugboard-"));
    const log = path.join(folder, "log");
    const store = path.join(folder, "store.db");
    const servers = {
      pipe: noting(log),
      modern: { url: web.url },
      legacy: { url: web.url, protocol: "2025-06-18" },
      sse: { url: sse.url, transport: "sse" },
    };
    const names = Object.keys(servers);
    const printed = await run("forgetful-program.mjs", JSON.stringify(servers), store);
    expect(printed).toBe(`${names.join(" ")}\n`);
    await expect(readFile(log, "utf8")).resolves.toBe("started\nended\n");
    await using host = await createHost({ config: false, store });
    const calls = await host.audit.query({ type: "call" });
    expect(calls.map(({ server }) => server)).toEqual(names.toReversed());
    await Promise.all([web.close(), sse.close()]);
  });

  it("CON-19 STD-24: so does one that uses servers without a host", async () => {
    const log = path.join(await mkdtemp(path.join(tmpdir(), "plugboard-")), "log");
    const printed = await run("forgetful-client.mjs", JSON.stringify(noting(log)));
    expect(printed).toBe("client\nwire\n");
    const lines = (await readFile(log, "utf8")).trimEnd().split("\n");
    expect(lines.toSorted()).toEqual(["ended", "ended", "started", "started"]);
  });
});

/** The test server behind a shell that notes its start, and its end if it was let end by itself. */
function noting(log: string): { readonly command: string; readonly args: readonly string[] } {
  const { command, args } = testServerEntry();
  const script = 'echo started >> "$0"; "$@"; echo ended >> "$0"';
  return { command: "sh", args: ["-c", script, log, command, ...args] };
}
