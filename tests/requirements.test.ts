import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { groupSizes, type Requirement, requirements } from "./requirements.ts";
import { identifierName, isNode, literalText, parseSource, walk } from "./syntax-tree.ts";

const root = path.resolve(import.meta.dirname, "..");

/** `it` of `it(…)`, `it.skip(…)` and `it.each(…)(…)`. */
function calledName(callee: unknown): string | undefined {
  if (!isNode(callee)) return undefined;
  if (callee.type === "CallExpression") return calledName(callee["callee"]);
  if (callee.type === "MemberExpression") return calledName(callee["object"]);
  return identifierName(callee);
}

/** The requirement ids in the names of a file's tests. */
function citedIds(source: string): string[] {
  const ids: string[] = [];
  walk(parseSource(source), (node) => {
    if (node.type !== "CallExpression") return;
    if (!["it", "test", "describe"].includes(calledName(node["callee"]) ?? "")) return;
    const name = literalText((node["arguments"] as readonly unknown[])[0]) ?? "";
    ids.push(...(name.match(/\b[A-Z]{2,3}-\d{2}\b/g) ?? []));
  });
  return ids;
}

/** Where each id is cited, one of the files at least. */
function citedInRepository(): Map<string, string> {
  const found = new Map<string, string>();
  for (const folder of ["src", "tests", "examples"]) {
    const files = readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" });
    for (const name of files) {
      if (!name.endsWith(".test.ts") || name.includes("node_modules")) continue;
      const file = path.join(folder, name);
      for (const id of citedIds(readFileSync(path.join(root, file), "utf8"))) found.set(id, file);
    }
  }
  return found;
}

interface Register {
  readonly listed: Readonly<Record<string, Requirement>>;
  readonly cited: ReadonlyMap<string, string>;
  readonly groups: Readonly<Record<string, number>>;
}

/** Every id of the groups, `CFG-01` and so on. */
function idsOf(groups: Register["groups"]): readonly string[] {
  return Object.entries(groups).flatMap(([group, size]) =>
    Array.from({ length: size }, (_, index) => `${group}-${String(index + 1).padStart(2, "0")}`),
  );
}

/** What is wrong, a sentence each: every id is proved by a test, superseded, or open with its reason. */
function flawsOf({ listed, cited, groups }: Register): readonly string[] {
  const known = new Set(idsOf(groups));
  return [
    ...[...known].filter((id) => !Object.hasOwn(listed, id)).map((id) => `${id} is not listed`),
    ...[...cited]
      .filter(([id]) => !Object.hasOwn(listed, id))
      .map(([id, file]) => `${id} is cited in ${file} and is not listed`),
    ...Object.entries(listed).flatMap(([id, requirement]) => {
      if (!known.has(id)) return [`${id} belongs to no group`];
      const file = cited.get(id);
      if (typeof requirement === "string")
        return file === undefined ? [`${id} is cited by no test and not marked`] : [];
      const { mark, reason } = requirement;
      return [
        ...(reason.trim() === "" ? [`${id} is ${mark} without a reason`] : []),
        ...(mark === "open" && file !== undefined ? [`${id} is open, and ${file} cites it`] : []),
      ];
    }),
  ];
}

describe("the ids that tests cite", () => {
  it("are read from the names of tests and groups only", () => {
    const source = `
      // CFG-01
      const text = "CFG-02";
      describe("CFG-03: a group", () => {
        it("CFG-04, CFG-05: both", () => { expect("CFG-06").toBe(text); });
        it.each([["CFG-07"]])("CFG-08: %s", () => {});
        it.skipIf(false)(\`CFG-09: \${text}\`, () => {});
        it("UTF-8 is no id, SHA-256 neither", () => {});
      });`;
    expect(citedIds(source)).toEqual(["CFG-03", "CFG-04", "CFG-05", "CFG-08", "CFG-09"]);
  });
});

describe("the list of requirements", () => {
  const sound: Register = {
    listed: {
      "CFG-01": "It is so.",
      "CFG-02": { text: "It will be.", mark: "open", reason: "not begun" },
      "CFG-03": { text: "It was.", mark: "superseded", reason: "CFG-01" },
    },
    cited: new Map([["CFG-01", "one.test.ts"]]),
    groups: { CFG: 3 },
  };

  it("may prove what supersedes something, too", () => {
    expect(flawsOf(sound)).toEqual([]);
    const cited = new Map([...sound.cited, ["CFG-03", "three.test.ts"]] as const);
    expect(flawsOf({ ...sound, cited })).toEqual([]);
  });

  it.each<[string, Partial<Register>]>([
    ["CFG-04 is not listed", { groups: { CFG: 4 } }],
    [
      "CFG-09 is cited in nine.test.ts and is not listed",
      { cited: new Map([...sound.cited, ["CFG-09", "nine.test.ts"]] as const) },
    ],
    ["ENV-01 belongs to no group", { listed: { ...sound.listed, "ENV-01": "It is so." } }],
    ["CFG-01 is cited by no test and not marked", { cited: new Map() }],
    [
      "CFG-02 is open, and two.test.ts cites it",
      { cited: new Map([...sound.cited, ["CFG-02", "two.test.ts"]] as const) },
    ],
    [
      "CFG-02 is open without a reason",
      { listed: { ...sound.listed, "CFG-02": { text: "It will be.", mark: "open", reason: " " } } },
    ],
    [
      "CFG-03 is superseded without a reason",
      { listed: { ...sound.listed, "CFG-03": { text: "", mark: "superseded", reason: "" } } },
    ],
  ])("is not sound when %s", (flaw, change) => {
    expect(flawsOf({ ...sound, ...change })).toEqual([flaw]);
  });

  it("leaves nothing out: each is proved by a test, superseded, or open with its reason", () => {
    const cited = citedInRepository();
    expect(flawsOf({ listed: requirements, cited, groups: groupSizes })).toEqual([]);
    const ids = Object.keys(requirements);
    expect(ids).toHaveLength(483);
    const marked = Object.entries(requirements).flatMap(([id, requirement]) =>
      typeof requirement === "string" ? [] : [{ id, ...requirement }],
    );
    const idsMarked = (mark: string): string =>
      marked
        .filter((it) => it.mark === mark)
        .map(({ id }) => id)
        .join(" ");
    console.log(
      `${ids.length - marked.length} of ${ids.length} requirements proved by tests; superseded: ${idsMarked("superseded")}; open: ${idsMarked("open")}`,
    );
  });
});
