import path from "node:path";

import { describe, expect, it } from "vitest";

import { CliSandbox, connectingLines, recordedEntry } from "./run-cli.ts";

describe("a call that is interrupted", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("PRO-22: %s cancels it on the wire and exits with %d", async (signal, code) => {
    const sandbox = new CliSandbox();
    sandbox.configureUser({ demo: recordedEntry(path.join(sandbox.cwd, "wire.log")) });
    const cli = sandbox.start(["call", "demo.slow", "steps=100"]);
    await cli.writes("stderr", "calling demo.slow");
    await sandbox.holds("wire.log", '"tools/call"');
    cli.signal(signal);
    const { stdout, stderr, exitCode } = await cli.ended;
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: code });
    expect(stderr).toBe(
      `${connectingLines("demo")}calling demo.slow …\n✗ demo: tools/call was cancelled\n`,
    );
    expect(sandbox.read("wire.log")).toContain("notifications/cancelled");
  });

  it("is stopped while its server still starts, too", async () => {
    const sandbox = new CliSandbox().configureUser({
      mute: { command: "node", args: ["-e", "setInterval(() => {}, 1000)"] },
    });
    const cli = sandbox.start(["call", "mute.anything"]);
    await cli.writes("stderr", "starting mute");
    cli.signal("SIGINT");
    expect(await cli.ended).toMatchObject({ stdout: "", exitCode: 130 });
  });

  it("is stopped while its server does not list its tools, too", async () => {
    const script = `
      const answers = {
        "server/discover": { error: { code: -32601, message: "unknown" } },
        initialize: {
          result: {
            protocolVersion: "2025-06-18",
            capabilities: { tools: {} },
            serverInfo: { name: "mute", version: "1" },
          },
        },
      };
      require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method } = JSON.parse(line);
        if (method === "tools/list") require("node:fs").writeFileSync("asked", method);
        else if (answers[method]) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answers[method] }));
      });
    `;
    const sandbox = new CliSandbox();
    sandbox.configureUser({
      mute: { command: "node", args: ["-e", script], cwd: sandbox.cwd },
    });
    const cli = sandbox.start(["call", "mute.anything"]);
    await sandbox.holds("asked", "tools/list");
    cli.signal("SIGINT");
    expect(await cli.ended).toEqual({
      stdout: "",
      stderr: `${connectingLines("mute")}✗ mute: cancelled by the caller\n`,
      exitCode: 130,
    });
  });

  it("ends though its server ignores everything but SIGKILL", async () => {
    const script = `
      process.on("SIGTERM", () => {});
      setInterval(() => {}, 1000);
      require("node:fs").writeFileSync("ready", "yes");
    `;
    const sandbox = new CliSandbox();
    sandbox.configureUser({
      stubborn: { command: "node", args: ["-e", script], cwd: sandbox.cwd },
    });
    const cli = sandbox.start(["call", "stubborn.anything"]);
    await sandbox.holds("ready", "yes");
    cli.signal("SIGINT");
    expect(await cli.ended).toMatchObject({ exitCode: 130 });
  });
});
