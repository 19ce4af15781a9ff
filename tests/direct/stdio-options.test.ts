import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { connectClient, type DirectOptions, openWire } from "../../src/entries/client.ts";
import { hostileEntry } from "../abuse/hostile/hostile-entry.ts";
import { watchSpawns } from "../abuse/spawns.ts";

const program = path.join(import.meta.dirname, "observed-child.mjs");

interface Observed {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly pid: number;
  readonly messages: readonly {
    readonly id?: number;
    readonly method?: string;
    readonly params?: Readonly<Record<string, unknown>>;
  }[];
}

/** What the child says about itself. */
async function observe(entry: object, options?: DirectOptions): Promise<Observed> {
  await using wire = openWire({ name: "observed", ...entry }, options);
  await wire.connect();
  return (await wire.sendRequest("observe")).result as Observed;
}

describe("a child process", () => {
  it("STD-03: is described by a name, a command, arguments, environment and a timeout", async () => {
    const entry = {
      name: "own",
      command: process.execPath,
      args: [program, "one two", "--three"],
      env: { FLAVOUR: "vanilla" },
      connectTimeout: 30,
    };
    const { args, env } = await observe(entry);
    expect(args).toEqual(["one two", "--three"]);
    expect(env).toMatchObject({ FLAVOUR: "vanilla" });
    await using wire = openWire({ ...entry, callTimeout: 0.2 });
    expect(wire.serverName).toBe("own");
    await wire.connect();
    await expect(wire.sendRequest("never")).rejects.toMatchObject({
      name: "McpTimeoutError",
      serverName: "own",
    });
  });

  it("STD-04: is described by one list, with variables passed through and a folder", async () => {
    const cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "plugboard-stdio-")));
    const { args, env, ...observed } = await observe(
      {
        command: [process.execPath, program, "--flag"],
        env: { OWN: "1" },
        envPassthrough: ["PASSED"],
        cwd,
      },
      { env: { ...process.env, PASSED: "2", KEPT: "3" } },
    );
    expect(args).toEqual(["--flag"]);
    expect(observed.cwd).toBe(cwd);
    expect(env).toMatchObject({ OWN: "1", PASSED: "2" });
    expect(env).not.toHaveProperty("KEPT");
  });

  it("STD-05: is started by connecting, which ends when both sides have greeted", async () => {
    await using wire = openWire({ name: "observed", command: process.execPath, args: [program] });
    const spawned = await watchSpawns(() => wire.connect());
    expect(spawned).toHaveLength(1);
    expect(wire.connected).toBe(true);
    const { messages } = (await wire.sendRequest("observe")).result as Observed;
    const methods = messages.map(({ method }) => method);
    const begin = methods.indexOf("initialize");
    expect(methods.slice(begin)).toEqual(["initialize", "notifications/initialized", "observe"]);
  });

  it("STD-06: hears of the revision and the client that were chosen", async () => {
    const clientInfo = { name: "corteX", version: "1.0.0" };
    const entry = { command: process.execPath, args: [program] };
    const { messages } = await observe(entry, { protocolVersion: "2024-11-05", clientInfo });
    expect(messages[0]).toMatchObject({
      method: "initialize",
      params: { protocolVersion: "2024-11-05", clientInfo },
    });
  });

  it("STD-13: is sent requests and answers them until it is closed", async () => {
    const wire = openWire({ name: "observed", command: process.execPath, args: [program] });
    const [child] = await watchSpawns(() => wire.connect());
    const both = await Promise.all([wire.sendRequest("one"), wire.sendRequest("two", { x: 1 })]);
    expect(both.every(({ isResponse }) => isResponse)).toBe(true);
    const { messages } = both[1].result as Observed;
    expect(messages.slice(-2)).toMatchObject([
      { method: "one" },
      { method: "two", params: { x: 1 } },
    ]);
    await wire.disconnect();
    expect(child?.process).toMatchObject({ exitCode: 0, signalCode: null });
  });

  it("PRO-11: that writes a line past the limit loses its connection, not the program its memory", async () => {
    const entry = { name: "endless", ...hostileEntry("oversize-line") };
    await using client = await connectClient(entry, { limits: { maxMessageBytes: 100_000 } });
    await expect(client.callTool("attack", { mib: 1 })).rejects.toMatchObject({
      code: "too_large",
      serverName: "endless",
    });
    expect(client.isConnected).toBe(false);
  });
});
