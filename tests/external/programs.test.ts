import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { installPackage, root, run } from "./package/packed-package.ts";

/** What the programs use beside the package. */
const packages = [
  "@modelcontextprotocol/server-everything@2026.8.31",
  "@modelcontextprotocol/server-filesystem@2026.8.31",
  "@modelcontextprotocol/server-memory@2026.8.31",
  "@types/node@20.19.25",
  "ai@6.0.326",
  "openai@6.49.0",
  // What the warning of Node 20 says to install, for a trail that outlives the program.
  ...(isBuiltin("node:sqlite") ? [] : ["@photostructure/sqlite@1.2.1"]),
];

const compilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noUnusedLocals: true,
  module: "nodenext",
  target: "es2023",
  lib: ["es2023", "esnext.disposable", "dom"],
  types: ["node"],
  rewriteRelativeImportExtensions: true,
};

const sources = path.join(import.meta.dirname, "programs");
let folder: string;
let home: string;

beforeAll(async () => {
  ({ folder } = await installPackage());
  const shell = process.platform === "win32";
  const options = ["--ignore-scripts", "--no-audit", "--no-fund"];
  await run("npm", ["install", ...options, ...packages], { cwd: folder, shell });
  home = path.join(folder, "home");
  await mkdir(home);
  for (const file of await readdir(sources))
    await copyFile(path.join(sources, file), path.join(folder, file));
}, 900_000);

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function runHere(...words: readonly string[]): Promise<string> {
  const env = { ...process.env, HOME: home, USERPROFILE: home };
  const { stdout } = await run(process.execPath, words, { cwd: folder, env });
  return stdout;
}

/** What the program says it prints, as the examples do. */
async function promisedBy(file: string): Promise<string> {
  const [, output = ""] = (await readFile(path.join(sources, file), "utf8")).split("// Output:\n");
  return output.replaceAll(/^\/\/ ?/gm, "");
}

describe("a program of a new user, against the packed package", () => {
  it.each([
    "1-first-call.mjs",
    "2-configuration-file.cjs",
    "3-ai-sdk-agent.mjs",
    "7-resources-and-prompts.cjs",
  ])("%s prints what it promises", async (file) => {
    expect(await runHere(file)).toBe(await promisedBy(file));
  });

  it("is checked by a strict compiler, with the types that plugboard types wrote", async () => {
    const entry = { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] };
    const mcpServers = { everything: entry };
    await writeFile(path.join(folder, "mcp.json"), JSON.stringify({ mcpServers }));
    const command = path.join(folder, "node_modules/plugboard/bin/plugboard.js");
    await runHere(
      command,
      "types",
      "everything",
      "--config",
      "mcp.json",
      "-o",
      "everything-tools.ts",
    );
    const config = { compilerOptions, include: ["*.ts"] };
    await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify(config));
    const compiler = path.join(root, "node_modules/typescript/bin/tsc");
    expect(
      await runHere(compiler, "-p", ".").catch(({ stdout }: { stdout: string }) => stdout),
    ).toBe("");
    const programs = (await readdir(sources)).filter((file) => file.endsWith(".ts"));
    expect(programs).toHaveLength(4);
    for (const file of programs)
      expect(await runHere(file.replace(/ts$/, "js")), file).toBe(await promisedBy(file));
  });
});
