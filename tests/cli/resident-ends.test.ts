import { spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it, onTestFinished } from "vitest";

import { ReplAtTerminal } from "./repl-terminal.ts";
import { CliSandbox, demoEntry, recordedEntry, type RunningCli } from "./run-cli.ts";

const ready = "Ctrl-C stops them and leaves no process behind.";
const program = fileURLToPath(new URL("../fixtures/programs/asking-program.mjs", import.meta.url));

/** A host that others use, and what was attached to it when it ended. */
interface Scene {
  readonly sandbox: CliSandbox;
  readonly host: RunningCli;
  readonly attached: { readonly ended: Promise<unknown> }[];
}

interface Moment {
  readonly name: string;
  readonly signal: "SIGINT" | "SIGTERM" | "SIGHUP";
  /** Resolves when the moment has come. */
  readonly comes: (scene: Scene) => Promise<void>;
}

const slowCall = ["call", "demo.slow", "steps=100", "delayMs=60000"];

function start(scene: Scene, words: readonly string[]): void {
  scene.attached.push(scene.sandbox.start(words));
}

function repl(scene: Scene, ...words: readonly string[]): ReplAtTerminal {
  const opened = new ReplAtTerminal(scene.sandbox, { words: ["repl", ...words] });
  scene.attached.push({
    get ended() {
      opened.terminal.kill("SIGTERM");
      return opened.end();
    },
  });
  return opened;
}

/** A program whose question is put to whoever is attached. */
function ask(scene: Scene): void {
  const { sandbox, attached } = scene;
  const child = spawn(process.execPath, [program, demoEntry.command, ...demoEntry.args], {
    cwd: sandbox.cwd,
    env: sandbox.environment,
    stdio: "ignore",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  attached.push({ ended: new Promise((resolve) => child.once("close", resolve)) });
}

const isUp = ({ host }: Scene): Promise<void> => host.writes("stdout", ready);

const moments: readonly Moment[] = [
  {
    name: "while its servers start",
    signal: "SIGTERM",
    comes: ({ sandbox }) => sandbox.holds("messages", "jsonrpc"),
  },
  { name: "with nobody attached", signal: "SIGHUP", comes: isUp },
  {
    name: "after a command has used it",
    signal: "SIGINT",
    comes: async (scene) => {
      await isUp(scene);
      await scene.sandbox.run(["call", "demo.add", "a=2", "b=3"]);
    },
  },
  {
    name: "in an attached call",
    signal: "SIGHUP",
    comes: async (scene) => {
      await isUp(scene);
      start(scene, slowCall);
      await scene.sandbox.holds("messages", "tools/call");
    },
  },
  {
    name: "in two attached calls",
    signal: "SIGTERM",
    comes: async (scene) => {
      await isUp(scene);
      start(scene, slowCall);
      start(scene, slowCall);
      await scene.sandbox.holds("messages", "tools/call");
    },
  },
  {
    name: "with a REPL at its prompt",
    signal: "SIGINT",
    comes: async (scene) => {
      await isUp(scene);
      await repl(scene).prompt();
    },
  },
  {
    name: "with a REPL that has a server of its own there",
    signal: "SIGTERM",
    comes: async (scene) => {
      await isUp(scene);
      await repl(scene).line("/mcp connect demo --allow-all --private", "demo connected");
    },
  },
  {
    name: "in a question of a REPL",
    signal: "SIGHUP",
    comes: async (scene) => {
      await isUp(scene);
      await repl(scene).line("demo.delete_note id=n1", "[1/n]");
    },
  },
  {
    name: "in a question of a program",
    signal: "SIGINT",
    comes: async (scene) => {
      await isUp(scene);
      const asked = repl(scene);
      await asked.prompt();
      ask(scene);
      await asked.terminal.shows((screen) => screen.includes("/answer 1"));
    },
  },
  {
    name: "while its configuration changes",
    signal: "SIGTERM",
    comes: async (scene) => {
      await isUp(scene);
      const file = path.join(scene.sandbox.home, ".plugboard", "mcp.json");
      writeFileSync(file, JSON.stringify({ servers: { second: demoEntry } }));
      await scene.host.writes("stdout", "removed  demo");
    },
  },
];

describe("no process is left, whatever moment a host ends at that others use", () => {
  it.each(moments)("STD-09: $name ($signal)", async ({ signal, comes }) => {
    const sandbox = new CliSandbox();
    sandbox.configureUser({ demo: recordedEntry(path.join(sandbox.cwd, "messages")) });
    const scene: Scene = { sandbox, host: sandbox.start(["up"]), attached: [] };
    await comes(scene);
    scene.host.signal(signal);
    // The end of each looks for processes that it has left.
    await scene.host.ended;
    for (const { ended } of scene.attached) await ended;
    const run = path.join(sandbox.home, ".plugboard", "run");
    expect(readdirSync(run, { withFileTypes: true }).map(({ name }) => name)).toEqual([]);
  });
});
