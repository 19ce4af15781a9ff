import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

const run = promisify(execFile);
const folder = fileURLToPath(new URL(".", import.meta.url));
const examples = readdirSync(folder).filter((file) => /^\d\d-.*\.ts$/.test(file));

/** What the example says it prints: the comment lines after `// Output:` at its end. */
function promisedOutput(source: string): string {
  const [, output = ""] = source.split("\n// Output:\n");
  return output.replace(/^\/\/ ?/gm, "");
}

describe("examples", () => {
  it.concurrent.each(examples)(
    "DOC-04, DOC-05, DOC-06: %s prints what it promises",
    async (file) => {
      const source = readFileSync(`${folder}${file}`, "utf8");
      const { stdout } = await run(process.execPath, ["--import", "tsx", file], { cwd: folder });
      expect(stdout).toBe(promisedOutput(source));
      expect(stdout).not.toBe("");
    },
  );
});
