import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const entry = fileURLToPath(new URL("sample.mjs", import.meta.url));
// Far more than any sample needs, also on a machine that is busy with other things.
const limitMs = 180_000;

/** @typedef {Readonly<Record<string, number>>} Figures */

/**
 * Runs one sample in a process of its own.
 *
 * @param {{ measure: string, options: import("../scenarios/scenario.mjs").Options }} job
 * @param {string} home a folder that is nobody's home: no client may find the user's configuration
 * @returns {Promise<{ figures: Figures } | { error: string }>}
 */
export function runSample(job, home) {
  // Printing the warnings that some clients cause would count as their work.
  const child = spawn(process.execPath, ["--no-warnings", entry, JSON.stringify(job)], {
    env: sampleEnvironment(home),
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  /** @type {Figures | undefined} */
  let figures;
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk) => {
    errors = (errors + chunk).slice(-4_000);
  });
  child.once("message", (message) => {
    figures = /** @type {Figures} */ (message);
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
  return new Promise((resolve) => {
    // Not `close`: a server that outlives a sample would hold its stderr.
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      if (figures !== undefined) resolve({ figures });
      else resolve({ error: `${signal ?? `exit code ${code}`}: ${firstError(errors)}` });
    });
  });
}

/** @param {string} stderr */
function firstError(stderr) {
  const lines = stderr.split("\n").map((line) => line.trim());
  return lines.find((line) => /^\w*Error\b/u.test(line)) ?? lines.find(Boolean) ?? "no message";
}

/** @param {string} home @returns {NodeJS.ProcessEnv} */
function sampleEnvironment(home) {
  const env = { ...process.env, HOME: home, USERPROFILE: home };
  for (const name of Object.keys(env))
    // Reading extra certificates takes longer than starting Node; options of ours may be anything.
    if (name === "NODE_EXTRA_CA_CERTS" || name === "NODE_OPTIONS" || name.startsWith("XDG_"))
      delete env[/** @type {keyof typeof env} */ (name)];
  return env;
}
