import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { type ErrorCase, errorCases } from "./error-cases.ts";
import { outputComplaints } from "./json-schemas.ts";
import { CliSandbox, normalize } from "./run-cli.ts";

// What a person reads when something fails, in one file to be read as a whole. `UPDATE_GOLDEN=1` writes it anew.
const goldenFile = path.join(import.meta.dirname, "error-texts.txt");
const isUpdate = process.env["UPDATE_GOLDEN"] === "1";
const golden = readGolden();
const told = new Map<string, string>();

function readGolden(): ReadonlyMap<string, string> {
  const sections = readFileSync(goldenFile, "utf8")
    .split(/^## (.+)\n\n/m)
    .slice(1);
  const pairs: [string, string][] = [];
  for (let index = 0; index < sections.length; index += 2)
    pairs.push([sections[index] ?? "", (sections[index + 1] ?? "").trimEnd()]);
  return new Map(pairs);
}

async function fail({ arrange, words, waits }: ErrorCase, options: readonly string[]) {
  const sandbox = new CliSandbox();
  const arranged = (await arrange?.(sandbox)) ?? {};
  // In this process one command waits for the other.
  const how = waits === true ? "runAsProcess" : "run";
  const result = await sandbox[how]([...options, ...words], arranged);
  const text = normalize(result.stderr)
    .replaceAll(sandbox.home, "<home>")
    .replaceAll(path.resolve(import.meta.dirname, "../.."), "<package>")
    .replaceAll(process.execPath, "node")
    .replaceAll(/localhost:\d+/g, "localhost:<port>")
    .replaceAll(/\(PATH searched: \d+ folders?\)/g, "(PATH searched: <n> folders)");
  return { ...result, text };
}

type Failed = Awaited<ReturnType<typeof fail>>;

function checkText(title: string, failure: ErrorCase, failed: Failed): void {
  const { stdout, stderr, text, exitCode } = failed;
  told.set(title, text.trimEnd());
  expect({ stdout: stdout.replace(/^No servers are configured\.\n/, ""), exitCode }).toEqual({
    stdout: "",
    exitCode: failure.exitCode,
  });
  expect(stderr).toMatch(/^[✗⚠] /);
  // No stack, no object, and nothing that a terminal would obey.
  expect(stderr).not.toMatch(/^\s+at .+:\d+:\d+/m);
  expect(stderr).not.toMatch(/"(?:code|message|details)":|fetch failed|\[object/);
  // oxlint-disable-next-line no-control-regex -- they are what must not be there
  expect(stderr).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202A-\u202E]/);
  // Only lines of our own begin at the margin.
  expect(stderr.split("\n").filter((line) => line.startsWith("✗ demo: forged"))).toEqual([]);
  if (!isUpdate) expect(text.trimEnd()).toBe(golden.get(title));
}

function checkObject(failure: ErrorCase, { stdout, stderr, exitCode }: Failed): void {
  expect(exitCode).toBe(failure.exitCode);
  // What answers for every server says in its object what is wrong with a file.
  if (failure.words[0] === "list" && failure.code === "config_invalid") {
    expect(JSON.parse(stdout)).toMatchObject({ problems: [{ code: failure.code }] });
    return;
  }
  expect(stdout).toBe("");
  expect(outputComplaints(failure.words, { stdout, stderr }), stderr).toEqual([]);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: failure.code } });
}

describe("a command that fails", () => {
  for (const [title, failure] of Object.entries(errorCases))
    it.skipIf(failure.isSkipped === true)(
      `ERR-17, CLI-13, CLI-14: ${title}: says what, where and what to do, and is one object for programs`,
      async () => {
        // Side by side, where they wait for seconds.
        const [shown, object] = await Promise.all([
          fail(failure, ["--quiet"]),
          fail(failure, ["--json"]),
        ]);
        checkText(title, failure, shown);
        checkObject(failure, object);
      },
    );

  // How a name is refused depends on the resolver of the machine.
  it("ERR-17, CLI-13: a host that does not exist", async () => {
    const failure: ErrorCase = {
      words: ["test", "api"],
      code: "unreachable",
      exitCode: 4,
      arrange: (sandbox) =>
        void sandbox.configureUser({ api: { url: "https://no-such-host.invalid/mcp" } }),
    };
    const { text, exitCode } = await fail(failure, ["--quiet"]);
    expect(text).toMatch(
      /^✗ api: (?:there is no host named no-such-host\.invalid|the name no-such-host\.invalid could not be looked up \(DNS does not answer\)) {3}try: check its address, then: plugboard test api\n$/,
    );
    expect(exitCode).toBe(4);
  });

  it("has no text that nothing leads to", () => {
    if (!isUpdate) expect([...golden.keys()].filter((title) => !(title in errorCases))).toEqual([]);
  });
});

afterAll(() => {
  if (!isUpdate) return;
  const sections = Object.keys(errorCases).map(
    (title) => `## ${title}\n\n${told.get(title) ?? golden.get(title) ?? ""}\n`,
  );
  writeFileSync(goldenFile, sections.join("\n"));
});
