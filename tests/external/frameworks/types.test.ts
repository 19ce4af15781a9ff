import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../../..");

describe("the types of the adapters", () => {
  it.each([
    ["the frameworks", "tsconfig.json"],
    ["their next major versions", "tsconfig.next-majors.json"],
  ])("fit those of %s: the tests beside this one compile", async (_, file) => {
    const compiler = path.join(root, "node_modules/typescript/bin/tsc");
    const project = path.join(import.meta.dirname, file);
    const compiled = promisify(execFile)(process.execPath, [compiler, "-p", project]);
    // What is wrong is in the output, not in the error.
    await expect(compiled.catch((failure: unknown) => failure)).resolves.toMatchObject({
      stdout: "",
    });
  });
});
