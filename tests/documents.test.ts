import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "..");
const readText = (file: string): string => readFileSync(path.join(root, file), "utf8");

const documents = [
  ...readdirSync(root),
  ...readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" }).map((file) =>
    path.join("docs", file),
  ),
].filter((file) => file.endsWith(".md"));

describe.each(documents)("%s", (file) => {
  it("links to files that exist", () => {
    const links = [...readText(file).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(
      ([, link]) => link,
    );
    const broken = links.filter(
      (link) => !existsSync(path.join(root, path.dirname(file), link ?? "")),
    );
    expect(broken).toEqual([]);
  });
});

describe("the README", () => {
  it("shows an example that prints what it says", () => {
    const [, program, output] =
      /```js\n([^]*?)```\n\n```text\n([^]*?)```/.exec(readText("README.md")) ?? [];
    const options = { cwd: root, encoding: "utf8", input: program ?? "" } as const;
    // Through the built package, by its own name, as a user would.
    expect(execFileSync(process.execPath, ["--input-type=module"], options)).toBe(output);
  });
});

describe("SECURITY.md", () => {
  it("names tests that exist", () => {
    const cited = [...readText("SECURITY.md").matchAll(/`([\w./-]+\.test\.ts)`: `([^`]+)`/g)];
    expect(cited.length).toBeGreaterThan(10);
    const missing = cited.filter(
      ([, file = "", name = ""]) =>
        !existsSync(path.join(root, file)) || !readText(file).includes(name),
    );
    expect(missing.map(([text]) => text)).toEqual([]);
  });
});
