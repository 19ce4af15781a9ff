import path from "node:path";

import { describe, expect, it } from "vitest";

import { createHost, type HostOptions } from "../../src/index.ts";

const program = path.resolve(import.meta.dirname, "../fixtures/servers/dying-server.mjs");

function dying(moment: string, ...rest: readonly string[]) {
  return { command: process.execPath, args: [program, moment, ...rest], reconnect: false };
}

async function hostOf(entry: ReturnType<typeof dying>, options: HostOptions = {}) {
  return await createHost({ config: false, servers: { mysql: entry }, ...options });
}

describe("a server that ends while it is being connected", () => {
  it.each(["at-start", "after-initialize", "after-initialized", "at-list"])(
    "CON-05: is no success but a start that failed, with the exit code and its last words (%s)",
    async (moment) => {
      await using host = await hostOf(dying(moment, "cannot open the database", "3"));
      await expect(host.connect("mysql")).rejects.toMatchObject({
        code: "start_exit",
        exitCode: 4,
        serverName: "mysql",
        message: expect.stringMatching(/^the server stopped during start \(exit code 3 after/),
        details: { exitCode: 3, stderrTail: ["cannot open the database"] },
      });
      expect(host.server("mysql")).toMatchObject({
        state: "disconnected",
        lastError: { code: "start_exit" },
      });
      expect(await host.connectAll()).toEqual({ mysql: false });
      const session = host.session({ level: "yolo" });
      expect(await session.call("mcp__mysql__look")).toMatchObject({
        ok: false,
        error: { code: "start_exit" },
      });
    },
  );

  it("DSC-19: a list that is refused is a failure in the server's own words", async () => {
    await using host = await hostOf(dying("list-refused"));
    await expect(host.connect("mysql")).rejects.toMatchObject({
      code: "protocol_violation",
      message:
        "the tools could not be listed: tools/list was answered with error -32000: out of order",
      details: { rpc: { code: -32_000 } },
    });
    expect(host.server("mysql")).toMatchObject({
      state: "error",
      lastError: { code: "protocol_violation" },
    });
  });

  it("DSC-19: a list that never comes is a failure by the clock", async () => {
    await using host = await hostOf(dying("list-silent"), { limits: { listTimeoutMs: 50 } });
    await expect(host.connect("mysql")).rejects.toMatchObject({
      code: "timeout",
      message: expect.stringContaining("the tools could not be listed: no answer to tools/list"),
    });
  });
});
