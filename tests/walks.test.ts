import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import { takeWalks, type Walks } from "./fixtures/walks/take-walks.ts";

const root = path.resolve(import.meta.dirname, "..");
const document = readFileSync(path.join(root, "docs/architecture.md"), "utf8");

/** Rooms of small things that every other room uses: a walk names them only where they matter. */
const everywhere: ReadonlySet<string> = new Set(["async", "errors", "ports", "text"]);

/** Rooms that work beside calls, whenever their time comes: the search for processes that an earlier host left. */
const beside: ReadonlySet<string> = new Set(["isolation"]);

const roomOf = (file: string): string => file.split("/")[0] ?? "";

/** The files of `src/` that a section of the document names. */
function filesNamedIn(heading: string): readonly string[] {
  const [, rest = ""] = document.split(`\n## ${heading}\n`);
  const [section = ""] = rest.split(/^## /m);
  return [...section.matchAll(/`((?:[a-z-]+\/)+[a-z-]+\.(?:ts|mjs))`/g)].map(
    ([, file = ""]) => file,
  );
}

describe("the walks of docs/architecture.md", () => {
  let walks: Walks;
  beforeAll(async () => {
    walks = await takeWalks();
  });

  it("are told apart by what really runs", () => {
    const rooms = {
      start: new Set(walks.start.map(roomOf)),
      call: new Set(walks.call.map(roomOf)),
      question: new Set(walks.question.map(roomOf)),
    };
    expect([...rooms.start]).toContain("config");
    expect([...rooms.call]).not.toContain("config");
    expect([...rooms.call]).not.toContain("requests");
    expect([...rooms.question]).toContain("requests");
  });

  describe.each([
    ["One start", "start"],
    ["One call", "call"],
    ["One question", "question"],
  ] as const)("%s", (heading, walk) => {
    const named = filesNamedIn(heading);

    it("names files that exist", () => {
      expect(named).not.toEqual([]);
      expect(named.filter((file) => !existsSync(path.join(root, "src", file)))).toEqual([]);
    });

    it("names files that the walk really goes through", () => {
      const entered = new Set(walks[walk]);
      expect(named.filter((file) => !entered.has(file))).toEqual([]);
    });
  });

  it("One call leaves out no file of the walk", () => {
    const named = new Set(filesNamedIn("One call"));
    const missing = walks.call
      .filter((file) => !named.has(file))
      .filter((file) => !everywhere.has(roomOf(file)) && !beside.has(roomOf(file)));
    expect(missing).toEqual([]);
  });
});

describe("the glossary of docs/architecture.md", () => {
  it("names the file of each shape of a tool", () => {
    const rows = [...document.matchAll(/^\| `(\w+)` +\| .* \| `([a-z/-]+\.ts)` +\|$/gm)];
    expect(rows.length).toBeGreaterThan(5);
    const wrong = rows.filter(([, name = "", file = ""]) => {
      const source = readFileSync(path.join(root, "src", file), "utf8");
      return !new RegExp(`export (?:interface|type) ${name}\\b`).test(source);
    });
    expect(wrong.map(([row]) => row)).toEqual([]);
  });
});
