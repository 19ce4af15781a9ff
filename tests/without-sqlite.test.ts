import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, "..");

const program = `
import { createHost } from "plugboard";
import { demoServerEntry } from "plugboard/testing";

const lines = [];
const logger = { debug() {}, info() {}, warn: (line) => lines.push(line), error: (line) => lines.push(line) };
const host = await createHost({ home: process.cwd(), logger, servers: { demo: demoServerEntry() } });
const session = host.session({ agent: "main", level: "yolo" });
const sum = await session.call("mcp__demo__add", { a: 2, b: 3 });
await host.approve("demo");
const granted = await host.grants.allow({ agent: "main", server: "demo", tool: "add" });
const trail = await host.audit.query();
const problems = host.configProblems.map(({ severity, code, message }) => ({ severity, code, message }));
await host.close();
console.log(JSON.stringify({ text: sum.text, grants: granted.length, trail: trail.length, lines, problems }));
`;

let folder: string;

/** The package as npm installs it, without the packages that are optional. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "without-sqlite-"));
  const modules = path.join(folder, "node_modules");
  const copy = path.join(modules, "plugboard");
  for (const part of ["package.json", "bin", "dist"])
    await cp(path.join(root, part), path.join(copy, part), { recursive: true });
  const manifest = JSON.parse(await readFile(path.join(root, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  for (const name of Object.keys(manifest.dependencies)) {
    await mkdir(path.dirname(path.join(modules, name)), { recursive: true });
    await symlink(path.join(root, "node_modules", name), path.join(modules, name));
  }
  await writeFile(path.join(folder, "program.mjs"), program);
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

describe.skipIf(isBuiltin("node:sqlite"))("on a Node without SQLite", () => {
  const reason = `Node ${process.versions.node} has no SQLite: approvals, pins and settings are kept in memory only, and there is no audit trail; npm install @photostructure/sqlite, or use Node 22.13 or newer`;

  it("LIM-14: the host works in memory, and says so once, with the command that helps", async () => {
    const { stdout, stderr } = await run(process.execPath, ["program.mjs"], { cwd: folder });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({
      text: "5",
      grants: 1,
      trail: 0,
      lines: [reason],
      problems: [{ severity: "warning", code: "store_failed", message: reason }],
    });
  });

  it("LIM-14: a command that keeps something fails instead", async () => {
    const command = path.join(folder, "node_modules", "plugboard", "bin", "plugboard.js");
    const env = { ...process.env, HOME: folder };
    for (const words of [
      ["consent", "list"],
      ["consent", "allow", "demo.add"],
      ["approve", "demo"],
    ]) {
      const failure = await run(process.execPath, [command, ...words], { cwd: folder, env }).then(
        () => undefined,
        (error: { readonly stderr: string }) => error.stderr,
      );
      expect(failure).toContain("npm install @photostructure/sqlite");
    }
    const { stdout, stderr } = await run(
      process.execPath,
      [command, "call", "demo.add", "a=1", "b=2"],
      { cwd: folder, env },
    );
    expect(stdout.trim()).toBe("3");
    expect(stderr).not.toContain("    at ");
  });
});
