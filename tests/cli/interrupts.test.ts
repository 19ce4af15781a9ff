import { execFileSync } from "node:child_process";
import { open } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it, onTestFinished } from "vitest";

import {
  CliSandbox,
  connectingLines,
  demoEntry,
  recordedEntry,
  type RunningCli,
  type RunOptions,
} from "./run-cli.ts";

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
});

const haltingServer = fileURLToPath(
  new URL("../fixtures/servers/halting-server.mjs", import.meta.url),
);

/** A server that stops answering at a moment and says so in the file `halted`. */
function halting(sandbox: CliSandbox, moment: string, traits: readonly string[] = []) {
  return {
    command: process.execPath,
    args: [haltingServer, moment, haltedIn(sandbox), ...traits],
  };
}

/** Stands for the file in the words of a command. */
const haltedFile = "<halted>";

function haltedIn(sandbox: CliSandbox): string {
  return path.join(sandbox.cwd, "halted");
}

interface Moment {
  readonly words: readonly string[];
  /** Prepares the place, and gives what the command needs beside its words. */
  readonly prepare?: (sandbox: CliSandbox) => Promise<RunOptions | undefined> | RunOptions | void;
  /** Resolves when the moment has come. */
  readonly comes: (cli: RunningCli, sandbox: CliSandbox) => Promise<unknown>;
  /** Where it is not that of the signal. */
  readonly exitCode?: (signal: StopSignal) => number;
}

const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type StopSignal = keyof typeof exitCodes;
const stopSignals = Object.keys(exitCodes) as StopSignal[];

const halts = (_: RunningCli, sandbox: CliSandbox): Promise<void> => sandbox.holds("halted", "\n");
const withHalting =
  (moment: string, traits?: readonly string[]) =>
  (sandbox: CliSandbox): void =>
    void sandbox.configureUser({ demo: demoEntry, halting: halting(sandbox, moment, traits) });

/** An address at which something accepts connections and never says a word. */
async function silentAddress() {
  let accept = (): void => {};
  const accepted = new Promise<void>((resolve) => (accept = resolve));
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    accept();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, accepted };
}

const pipe = "arguments";
const acceptances = new WeakMap<CliSandbox, Promise<void>>();

const moments: Readonly<Record<string, Moment>> = {
  "before the host opens": {
    words: ["call", "demo.echo", `message=@${pipe}`],
    prepare: (sandbox) => void execFileSync("mkfifo", [path.join(sandbox.cwd, pipe)]),
    // Opening it to write waits for somebody who reads.
    comes: async (_, sandbox) => {
      const file = await open(path.join(sandbox.cwd, pipe), "w");
      onTestFinished(() => file.close());
    },
  },
  "while the store opens": {
    words: ["list"],
    prepare: async (sandbox) => {
      const { port, accepted } = await silentAddress();
      acceptances.set(sandbox, accepted);
      return { env: { PLUGBOARD_DB: `postgres://u:p@127.0.0.1:${port}/x` } };
    },
    comes: (_, sandbox) => acceptances.get(sandbox) ?? Promise.reject(new Error("no store")),
  },
  "while a process is started": {
    words: ["test", "halting"],
    prepare: withHalting("start"),
    comes: (cli) => cli.writes("stderr", "starting halting"),
  },
  "in the handshake": {
    words: ["tools", "halting"],
    prepare: withHalting("initialize"),
    comes: halts,
  },
  "while the tools are listed": {
    words: ["types", "halting"],
    prepare: withHalting("tools/list"),
    comes: halts,
  },
  "in a call, of a server that ignores SIGTERM": {
    words: ["call", "halting.go"],
    prepare: withHalting("tools/call", ["ignore-term"]),
    comes: halts,
  },
  // Its result is there by then.
  "while a server that ignores everything ends": {
    words: ["call", "halting.go"],
    prepare: withHalting("end", ["ignore-term", "detached-grandchild"]),
    comes: halts,
    exitCode: () => 0,
  },
  "with two servers, one of them silent": {
    words: ["list", "--check"],
    prepare: withHalting("start", ["grandchild"]),
    comes: (cli) => cli.writes("stdout", /demo +● connected/),
  },
  "while tools of several are listed": {
    words: ["tools", "--json"],
    prepare: withHalting("tools/list"),
    comes: halts,
  },
  "while up connects": {
    words: ["up"],
    prepare: withHalting("initialize"),
    comes: (cli) => cli.writes("stdout", "✓ demo"),
    exitCode: (signal) => (signal === "SIGINT" ? 0 : exitCodes[signal]),
  },
  "while up stays": {
    words: ["up"],
    prepare: (sandbox) => void sandbox.configureUser({ demo: demoEntry }),
    comes: (cli) => cli.writes("stdout", "Ctrl-C stops them"),
    exitCode: (signal) => (signal === "SIGINT" ? 0 : exitCodes[signal]),
  },
  "while connect tries a server": {
    words: ["connect", "halting"],
    prepare: withHalting("initialize"),
    comes: halts,
  },
  "while edit tries a server": {
    words: ["edit", "halting", "--timeout", "60s"],
    prepare: withHalting("tools/list"),
    comes: halts,
  },
  "while doctor waits for an answer": {
    words: ["doctor"],
    prepare: withHalting("initialize", ["ignore-term"]),
    comes: halts,
  },
  "while the rules of a server are tried": {
    words: ["test", "--contract", "halting"],
    prepare: withHalting("initialize"),
    comes: halts,
  },
  "while a server that is not configured is asked": {
    words: ["resources", "--", process.execPath, haltingServer, "initialize", haltedFile],
    comes: halts,
  },
  "while add tries a server": {
    words: ["add", "new", "--", process.execPath, haltingServer, "initialize", haltedFile],
    comes: halts,
  },
};

/** The command is told to stop when the moment has come; that no process is left is looked at in every run. */
async function interrupt(moment: Moment, signal: StopSignal) {
  const sandbox = new CliSandbox();
  const options = (await moment.prepare?.(sandbox)) ?? {};
  const words = moment.words.map((word) => (word === haltedFile ? haltedIn(sandbox) : word));
  const cli = sandbox.start(words, options);
  await moment.comes(cli, sandbox);
  cli.signal(signal);
  const { stderr, exitCode } = await cli.ended;
  expect(stderr).not.toMatch(/unexpected|by the caller|^\s+at /m);
  return { signal, exitCode };
}

describe("no process is left, whatever moment a command is stopped at", () => {
  it.each(Object.entries(moments))("STD-09: %s", async (_name, moment) => {
    const ends = await Promise.all(stopSignals.map((signal) => interrupt(moment, signal)));
    const { exitCode = (signal) => exitCodes[signal] } = moment;
    expect(ends).toEqual(stopSignals.map((signal) => ({ signal, exitCode: exitCode(signal) })));
  });
});

describe("a command ends soon after its result", () => {
  it.each([
    ["ignores the end of its input", []],
    ["ignores SIGTERM as well", ["ignore-term"]],
    ["has a child that ignores both", ["grandchild"]],
    ["has a child in a group of its own that holds its pipes", ["detached-grandchild"]],
    ["never stops writing", ["ignore-term", "noisy"]],
  ])("STD-09: though its server %s", async (_name, traits) => {
    const sandbox = new CliSandbox();
    sandbox.configureUser({ halting: halting(sandbox, "end", traits) });
    const cli = sandbox.start(["--quiet", "call", "halting.go"]);
    await cli.writes("stdout", "went\n");
    expect(await cli.ended).toEqual({ stdout: "went\n", stderr: "", exitCode: 0 });
  });

  it.skipIf(process.platform !== "linux")(
    "and at the second signal at once, though a thread still reads",
    async () => {
      const sandbox = new CliSandbox();
      // A terminal that nobody types on: nothing can interrupt the thread that reads it.
      const cli = sandbox.start(["call", "demo.echo", "message=@/dev/ptmx"]);
      await expect.poll(() => cli.openFiles()).toContainEqual(expect.stringContaining("ptmx"));
      // One that follows at once counts as the same signal, passed on by a parent.
      const again = setInterval(() => cli.signal("SIGTERM"), 100);
      onTestFinished(() => clearInterval(again));
      expect(await cli.ended).toEqual({ stdout: "", stderr: "", exitCode: 143 });
    },
  );
});
