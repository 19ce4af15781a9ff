import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { commandLines, newerNode } from "../programs/command-lines.mjs";
import { openTarget } from "../servers/open-target.mjs";

/** What the answer to a task has in it, whoever gives it: failing fast is not fast. */
const answers = {
  version: /^[^\n]*\d+\.\d+\.\d+/,
  list: /\becho\b/,
  complete: /^echo\.echo$/m,
  remembered: /\becho\b/,
  tools: /\becho\b/,
  call: /x/,
  resident: /x/,
};

/** Runs `"$@"` and writes to the file `$0` how long it took; of what it waited for, the CPU time is in it. */
const timed = `TIMEFORMAT='%3R %3U %3S'; exec 3>&2; { time "$@" 2>&3; } 2>"$0"`;

/**
 * @typedef {object} CommandOptions
 * @property {string} client a name in `command-lines.mjs`
 * @property {import("../programs/command-lines.mjs").Task} task
 * @property {boolean} [newer] whether it runs on the newer Node
 */

/**
 * How long one command takes from its start to its end, and the CPU time of all processes that it has waited for. Each
 * sample has a home and a project of its own, and runs the command twice: the first time may keep compiled code.
 *
 * @param {CommandOptions} options
 */
export async function measure({ client, task, newer = false }) {
  const folder = await mkdtemp(path.join(tmpdir(), "plugboard-bench-command-"));
  try {
    const [home, project] = [path.join(folder, "home"), path.join(folder, "project")];
    await mkdir(home);
    await mkdir(project);
    const commandLine = commandLines[client];
    if (commandLine === undefined) throw new Error(`there is no command line "${client}"`);
    const { target } = await openTarget("stdio");
    if (target.kind !== "stdio") throw new Error("the server is no command");
    const isResident = task === "resident";
    await commandLine.configure?.(project, home, target, isResident);
    const node = newer ? newerNode() : process.execPath;
    /** @param {import("../programs/command-lines.mjs").Task} asked */
    const run = (asked) => ({ words: [node, ...commandLine.words(asked, target)], home, project });
    if (isResident) return await measureResident(folder, { node, commandLine, run });
    const isOfKnown = task === "remembered" || task === "complete";
    await runTimed(path.join(folder, "before"), run(isOfKnown ? "tools" : task));
    // Compiled code of the command itself is kept by its own first run.
    if (isOfKnown) await runTimed(path.join(folder, "before"), run(task));
    else await commandLine.forget?.(home);
    const { output, wallMs, cpuMs } = await runTimed(path.join(folder, "times"), run(task));
    if (!(commandLine.answer ?? answers[task]).test(output))
      throw new Error(`${client} answered: ${output.slice(0, 200)}`);
    return { wallMs, cpuMs };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * A command beside a process that keeps its server running, and how much longer it takes than a bare start of Node.
 *
 * @param {string} folder
 * @param {{
 *   node: string,
 *   commandLine: import("../programs/command-lines.mjs").CommandLine,
 *   run: (task: "resident") => { words: readonly string[], home: string, project: string },
 * }} command
 */
async function measureResident(folder, { node, commandLine: { resident }, run }) {
  if (resident === undefined) throw new Error("this command line keeps no server running");
  const { home, project } = run("resident");
  const options = { cwd: project, env: { ...process.env, HOME: home, USERPROFILE: home } };
  const keeper = spawn(node, resident.words, { ...options, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => keeper.once("close", resolve));
  const isReady = new Promise((resolve) => {
    let output = "";
    keeper.stdout.setEncoding("utf8").on("data", (chunk) => {
      output += chunk;
      if (resident.ready.test(output)) resolve(undefined);
    });
  });
  try {
    await Promise.race([isReady, ended]);
    // One that goes on by itself is ready when the command that started it is over.
    if (resident.stop !== undefined) await ended;
    const file = path.join(folder, "times");
    await runTimed(file, run("resident"));
    const bare = await runTimed(file, { words: [node, "-e", "0"], home, project });
    const { output, wallMs, cpuMs } = await runTimed(file, run("resident"));
    if (!answers.resident.test(output)) throw new Error(`answered: ${output.slice(0, 200)}`);
    return { wallMs, cpuMs, aboveBareMs: wallMs - bare.wallMs };
  } finally {
    if (resident.stop === undefined) keeper.kill("SIGTERM");
    else
      await runTimed(path.join(folder, "stop"), {
        words: [node, ...resident.stop],
        home,
        project,
      });
    await ended;
  }
}

/**
 * @param {string} timesFile
 * @param {{ words: readonly string[], home: string, project: string }} run
 */
async function runTimed(timesFile, { words, home, project }) {
  // No other shell and no `time` command counts milliseconds.
  const child = spawn("bash", ["-c", timed, timesFile, ...words], {
    cwd: project,
    env: { ...process.env, HOME: home, USERPROFILE: home },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => (output += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk) => (errors += chunk));
  /** @type {number | null} */
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`exit code ${code}: ${errors.slice(0, 500)}`);
  const [wall = 0, user = 0, system = 0] = (await readFile(timesFile, "utf8"))
    .trim()
    .split(" ")
    .map(Number);
  return { output, wallMs: wall * 1_000, cpuMs: (user + system) * 1_000 };
}
