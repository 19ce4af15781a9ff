import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

import { createTestServer, serveHttp, serveSse, testServerEntry } from "../../src/testing/index.ts";

const here = (name: string): string => path.join(import.meta.dirname, name);

/** What a program prints that has to do without these packages. */
async function runWithout(packages: string, ...command: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--import", here("refuse-packages.mjs"), ...command],
    { env: { ...process.env, REFUSED_PACKAGES: packages } },
  );
  return JSON.parse(stdout) as unknown;
}

const callEcho = (entry: object, without: string): Promise<unknown> =>
  runWithout(without, here("call-echo.mjs"), JSON.stringify(entry));

describe("a process without packages that are not promised", () => {
  it("SSE-10: speaks the dialect with a stream of its own", async () => {
    const server = await serveSse(createTestServer());
    expect(await callEcho({ url: server.url, transport: "sse" }, "*")).toBe("hello");
    await server.close();
  });

  it("HTP-03: speaks HTTP, and to a child process, without any package for it", async () => {
    const server = await serveHttp(createTestServer());
    const entry = { url: server.url, transport: "streamable-http" };
    expect(await callEcho(entry, "*")).toBe("hello");
    await server.close();
    const { command, args } = testServerEntry();
    expect(await callEcho({ command, args }, "*")).toBe("hello");
  });

  it("ERR-14: is told the name of the one it lacks, and how to get it", async () => {
    expect(await runWithout("pg", here("open-postgres.mjs"))).toMatchObject({
      name: "McpStateError",
      code: "store_failed",
      message: expect.stringContaining("pg") as string,
      hint: expect.stringContaining("npm install pg") as string,
    });
  });
});
