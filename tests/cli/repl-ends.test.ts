import path from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { keys, ReplAtTerminal } from "./repl-terminal.ts";
import { CliSandbox, demoEntry } from "./run-cli.ts";

const haltingServer = fileURLToPath(
  new URL("../fixtures/servers/halting-server.mjs", import.meta.url),
);

/** The demo server, and one that stops answering at a moment and says so in the file `halted`. */
function sandboxWith(moment = "never", traits: readonly string[] = []): CliSandbox {
  const sandbox = new CliSandbox();
  const args = [haltingServer, moment, path.join(sandbox.cwd, "halted"), ...traits];
  const halting = { command: process.execPath, args, protocol: "2025-11-25" };
  return sandbox.configureUser({ demo: demoEntry, halting });
}

interface Moment {
  readonly sandbox: () => CliSandbox;
  /** Resolves when the moment has come. */
  readonly comes: (repl: ReplAtTerminal, sandbox: CliSandbox) => Promise<void>;
}

const connect = "/mcp connect demo --per-tool --private";
const halts = (line: string) => async (repl: ReplAtTerminal, sandbox: CliSandbox) => {
  await repl.prompt();
  repl.terminal.type(`${line}${keys.enter}`);
  await sandbox.holds("halted", "\n");
};

const moments: Readonly<Record<string, Moment>> = {
  "before the first prompt": {
    sandbox: () => sandboxWith(),
    comes: (repl) => repl.terminal.shows("Plugboard"),
  },
  "at the prompt": { sandbox: () => sandboxWith(), comes: (repl) => repl.prompt() },
  "in the middle of a line": {
    sandbox: () => sandboxWith(),
    comes: async (repl) => {
      await repl.prompt();
      repl.terminal.type("/mcp connect de");
      await repl.terminal.typing("> /mcp connect de");
    },
  },
  "with a server connected": {
    sandbox: () => sandboxWith(),
    comes: (repl) => repl.line(connect),
  },
  "while a server starts": {
    sandbox: () => sandboxWith("start", ["grandchild"]),
    comes: halts("/mcp connect halting --allow-all --private"),
  },
  "in the handshake": {
    sandbox: () => sandboxWith("initialize"),
    comes: halts("/mcp connect halting --allow-all --private"),
  },
  "while tools are listed": {
    sandbox: () => sandboxWith("tools/list"),
    comes: halts("/mcp tools halting"),
  },
  "in a question at a gate": {
    sandbox: () => sandboxWith(),
    comes: (repl) => repl.line("/mcp connect demo", "[1/2/3/n]"),
  },
  "in a question about a call": {
    sandbox: () => sandboxWith(),
    comes: async (repl) => {
      await repl.line(connect);
      await repl.line("demo.delete_note id=n1", "[1/n]");
    },
  },
  "in a form": {
    sandbox: () => sandboxWith(),
    comes: async (repl) => {
      await repl.line("/mcp connect demo --allow-all --private");
      await repl.line("demo.ask_name", "Name:");
    },
  },
  "in a call, of a server that ignores SIGTERM": {
    sandbox: () => sandboxWith("tools/call", ["ignore-term"]),
    comes: async (repl, sandbox) => {
      await repl.line("/mcp connect halting --allow-all --private");
      await halts("halting.go")(repl, sandbox);
    },
  },
};

const exitCodes = { SIGTERM: 143, SIGHUP: 129 } as const;

/** Types Ctrl-C until the prompt is there, and Ctrl-D. */
async function leaveByKeys(repl: ReplAtTerminal): Promise<void> {
  const { terminal } = repl;
  if (!/^> $/.test(terminal.typedLine)) await repl.keys(keys.interrupt);
  await repl.prompt();
  terminal.type(keys.end);
}

describe("no process is left, whatever moment the REPL ends at", () => {
  it.each(Object.entries(moments))("STD-09: %s", async (_name, moment) => {
    const ends = { ...exitCodes, keys: 0 };
    for (const [how, exitCode] of Object.entries(ends)) {
      const sandbox = moment.sandbox();
      const repl = new ReplAtTerminal(sandbox);
      await moment.comes(repl, sandbox);
      if (how === "keys") await leaveByKeys(repl);
      else repl.terminal.kill(how as keyof typeof exitCodes);
      expect({ how, exitCode: await repl.end() }).toEqual({ how, exitCode });
      expect(repl.terminal.screen).not.toMatch(/unexpected|^\s+at /m);
    }
  });
});
