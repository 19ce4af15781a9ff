import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const folder = fileURLToPath(new URL(".", import.meta.url));
const examples = readdirSync(folder).filter((file) => /^\d\d-.*\.ts$/.test(file));

/** What the example says it prints: the comment lines after `// Output:` at its end. */
function promisedOutput(source: string): string {
  const [, output = ""] = source.split("\n// Output:\n");
  return output.replace(/^\/\/ ?/gm, "");
}

/** Those with servers of the guide, which are programs of their own as well, start as it is told there: with a loader. */
const isStartedAsSource = (source: string): boolean => source.includes('"./servers/');

const scratch = path.join(folder, "../.bootstrap");
let written: string;

/** All others as JavaScript, with what was built behind the package's name: a loader takes longer than all they do. */
async function writeAsJavaScript(target: string): Promise<void> {
  const bundle = await rolldown({
    input: examples.map((file) => path.join(folder, file)),
    platform: "node",
    tsconfig: false,
    external: /^(?:plugboard|@modelcontextprotocol)\b/,
    transform: { target: "node20.19" },
  });
  await bundle.write({ dir: target, format: "esm", entryFileNames: "[name].mjs" });
  await bundle.close();
}

beforeAll(async () => {
  mkdirSync(scratch, { recursive: true });
  written = mkdtempSync(path.join(scratch, "examples-"));
  await writeAsJavaScript(written);
});
afterAll(() => rmSync(written, { recursive: true, force: true }));

describe("examples", () => {
  it.concurrent.each(examples)(
    "DOC-04, DOC-05, DOC-06: %s prints what it promises",
    async (file) => {
      const source = readFileSync(`${folder}${file}`, "utf8");
      const words = isStartedAsSource(source)
        ? ["--import", "tsx", file]
        : [path.join(written, `${path.basename(file, ".ts")}.mjs`)];
      const { stdout } = await run(process.execPath, words, { cwd: folder });
      expect(stdout).toBe(promisedOutput(source));
      expect(stdout).not.toBe("");
    },
  );
});
