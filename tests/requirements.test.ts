import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { requirements } from "./requirements.ts";
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

  it("are all listed in requirements.ts", () => {
    const unknown = [...citedInRepository()].filter(([id]) => !Object.hasOwn(requirements, id));
    const sentences = unknown.map(([id, file]) => `${id} is cited in ${file}`);
    expect(sentences, "add each id to tests/requirements.ts, or correct it").toEqual([]);
  });

  it("leave a number of requirements without a test, printed for the record", () => {
    const cited = citedInRepository();
    const open = Object.keys(requirements).filter((id) => !cited.has(id));
    const total = Object.keys(requirements).length;
    console.log(
      `${total - open.length} of ${total} requirements cited; not cited: ${open.join(" ")}`,
    );
    expect(open.length).toBeLessThan(total);
  });
});
