import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { absoluteEntry } from "./absolute-entry.ts";

const base = mkdtempSync(path.join(tmpdir(), "entry-"));
const at = (name: string): string => path.join(base, name);
mkdirSync(at("docs"));
writeFileSync(at("server.js"), "");

describe("an entry that is kept for the user", () => {
  it("L1: has absolute paths where it had relative ones that exist, and says so", () => {
    const given = { command: "node", args: ["./server.js", "server.js", ".", "--x", "none.js"] };
    expect(absoluteEntry(given, base)).toEqual({
      entry: { command: "node", args: [at("server.js"), at("server.js"), base, "--x", "none.js"] },
      notes: [
        `argument 1 "./server.js" is kept as ${at("server.js")}`,
        `argument 2 "server.js" is kept as ${at("server.js")}`,
        `argument 3 "." is kept as ${base}`,
      ],
    });
  });

  it("L1: has the command and the arguments of a list made absolute as well", () => {
    const { entry } = absoluteEntry({ command: ["./run", "docs/"] }, base);
    expect(entry).toEqual({ command: [at("run"), at("docs")] });
  });

  it("L1: keeps a word that may be a command of the program, and says that it is no path", () => {
    const { entry, notes } = absoluteEntry({ command: "npx", args: ["-y", "pkg", "docs"] }, base);
    expect(entry).toMatchObject({ args: ["-y", "pkg", "docs"] });
    expect(notes).toEqual([
      `argument 3 "docs" is kept as it is: write ${at("docs")} if that is meant`,
    ]);
  });

  it("L1: with a folder keeps its arguments, which are meant from there", () => {
    const given = { command: "./run", args: ["server.js"], cwd: "docs" };
    expect(absoluteEntry(given, base).entry).toEqual({
      command: at("docs/run"),
      args: ["server.js"],
      cwd: at("docs"),
    });
    const inWorkspace = { command: "run", args: ["server.js"], cwd: "${workspaceFolder}" };
    expect(absoluteEntry(inWorkspace, base)).toEqual({ entry: inWorkspace, notes: [] });
  });

  it.each([{ url: "https://example.com/mcp" }, { enabled: false }, { command: 1 }, {}])(
    "L1: leaves %j alone",
    (entry) => {
      expect(absoluteEntry(entry, base)).toEqual({ entry, notes: [] });
    },
  );
});
