import path from "node:path";

import { describe, expect, it } from "vitest";

import { CliSandbox } from "../cli/run-cli.ts";
import { type FailureCase, failureCases, openPlace } from "./failures/cases.ts";
import { goldenTable, goldenText, writeCase } from "./failures/golden-text.ts";

async function ask(failure: FailureCase): Promise<string> {
  await using place = await openPlace();
  const sandbox = new CliSandbox();
  const file = writeCase(failure, place, sandbox.cwd);
  const words = ["test", "notes", "--config", file, "--timeout", "10s"];
  const { stdout, stderr, exitCode } = await sandbox.run(words, { env: failure.env ?? {} });
  const folders = { folder: path.dirname(sandbox.cwd) };
  return goldenText(`${stdout}${stderr}\nexit code ${exitCode}`, folders);
}

// `failures/` holds what we say, to be read beside what mcporter and the Inspector say (`record-failures.ts`).
describe("what goes wrong with a configuration", () => {
  const told = new Map<string, string>();

  it.each(failureCases)("ERR-17: $title, with its cause and the next step", async (failure) => {
    const text = await ask(failure);
    told.set(failure.title, text);
    expect(text).toMatch(failure.cause);
    if (failure.next === undefined) expect(text).toMatch(/exit code 0$/);
    else expect(text).toMatch(failure.next);
    expect(text).not.toMatch(/^\s+at .*:\d+:\d+|wrong-token-77/m);
  });

  it("ERR-17: reads as it is kept", async () => {
    const file = path.join(import.meta.dirname, "failures/plugboard.txt");
    await expect(goldenTable(told)).toMatchFileSnapshot(file);
  });
});
