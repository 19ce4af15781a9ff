// What a user gets with one `npm install`: disk, packages, install scripts, and the time of an import.
// Plugboard is packed and installed like the others, from a folder of its own each.
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { readMachine } from "./harness/surroundings.mjs";

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, "..");
const rounds = 11;
const pinned = JSON.parse(
  await readFile(path.join(import.meta.dirname, "package.json"), "utf8"),
).dependencies;

/** @param {string} name */
const pin = (name) => `${name}@${pinned[name]}`;

/** Of each: what is installed, and what a program imports. The adapters of LangChain need its core. */
const subjects = [
  { name: "plugboard", specs: [await packPlugboard()] },
  { name: "mcporter", specs: [pin("mcporter")] },
  { name: "@ai-sdk/mcp", specs: [pin("@ai-sdk/mcp")] },
  {
    name: "@langchain/mcp-adapters",
    specs: ["@langchain/mcp-adapters", "@langchain/core", "@langchain/langgraph"].map(pin),
  },
];

async function packPlugboard() {
  const folder = await mkdtemp(path.join(tmpdir(), "packed-"));
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], {
    cwd: root,
  });
  return path.join(folder, JSON.parse(stdout.slice(stdout.indexOf("[")))[0].filename);
}

/** @param {readonly string[]} specs */
async function install(specs) {
  const folder = await mkdtemp(path.join(tmpdir(), "installed-"));
  await writeFile(path.join(folder, "package.json"), '{ "private": true, "type": "module" }');
  await run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...specs], {
    cwd: folder,
  });
  return folder;
}

/** @param {string} folder */
async function weigh(folder) {
  const modules = path.join(folder, "node_modules");
  const record = await readFile(path.join(modules, ".package-lock.json"), "utf8");
  const packages = Object.values(JSON.parse(record).packages);
  const entries = await readdir(modules, { recursive: true, withFileTypes: true });
  const stats = await Promise.all(
    entries
      .filter((entry) => !entry.isSymbolicLink())
      .map((entry) => stat(path.join(entry.parentPath, entry.name))),
  );
  const inMegabytes = (/** @type {number} */ bytes) => Math.round(bytes / 100_000) / 10;
  return {
    packages: packages.length,
    installScripts: packages.filter(({ hasInstallScript }) => hasInstallScript).length,
    files: stats.filter((one) => one.isFile()).length,
    diskMB: inMegabytes(stats.reduce((sum, { blocks }) => sum + blocks * 512, 0)),
    bytesMB: inMegabytes(stats.reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0)),
  };
}

/** One process: wall-clock and CPU time of the import alone. @param {string} folder @param {string} name */
async function importOnce(folder, name) {
  const code = `
    const cpu = process.cpuUsage();
    const since = performance.now();
    await import(${JSON.stringify(name)});
    const { user, system } = process.cpuUsage(cpu);
    console.log(JSON.stringify({ wallMs: performance.now() - since, cpuMs: (user + system) / 1000 }));`;
  const words = ["--input-type=module", "-e", code];
  const { stdout } = await run(process.execPath, words, { cwd: folder });
  return JSON.parse(stdout);
}

/** @param {readonly number[]} values */
const median = (values) =>
  Math.round(values.toSorted((a, b) => a - b)[values.length >> 1] * 10) / 10;

const machine = readMachine();
const folders = [];
for (const { specs } of subjects) folders.push(await install(specs));
const samples = subjects.map(() => /** @type {{ wallMs: number, cpuMs: number }[]} */ ([]));
// In turns, so that what slows down the machine slows down all of them. The first round only warms up.
for (let round = 0; round <= rounds; round += 1)
  for (const [index, { name }] of subjects.entries()) {
    const sample = await importOnce(folders[index], name);
    if (round > 0) samples[index].push(sample);
  }
const results = [];
for (const [index, { name, specs }] of subjects.entries())
  results.push({
    name,
    installed: specs.map((spec) => (path.isAbsolute(spec) ? path.basename(spec) : spec)),
    ...(await weigh(folders[index])),
    importWallMs: median(samples[index].map(({ wallMs }) => wallMs)),
    importCpuMs: median(samples[index].map(({ cpuMs }) => cpuMs)),
    samples: samples[index],
  });
for (const folder of folders) await rm(folder, { recursive: true });

const columns = ["packages", "installScripts", "diskMB", "bytesMB", "importWallMs", "importCpuMs"];
console.table(Object.fromEntries(results.map((result) => [result.name, result])), columns);
const report = {
  scenario: "install",
  date: new Date().toISOString(),
  command: "npm run bench:install",
  node: process.version,
  machine,
  rounds,
  results,
};
await writeFile(
  path.join(import.meta.dirname, "results", "install.json"),
  `${JSON.stringify(report, null, 2)}\n`,
);
