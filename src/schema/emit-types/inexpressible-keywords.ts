import { edgeOf, edgesOf, keywordOf } from "../compile/schema-check.ts";
import type { SchemaNode } from "../guard/schema-graph.ts";
import { allKinds, kindBits, type Kinds } from "./accepted-kinds.ts";
import { acceptsAnyName } from "./mentioned-fields.ts";

/** Keywords that say something about the shape of a value that no type can say, and about which values. */
const inexpressible: ReadonlyMap<string, Kinds> = new Map<string, Kinds>([
  ["not", allKinds],
  ["if", allKinds],
  ["dependentSchemas", kindBits.object],
  ["dependentRequired", kindBits.object],
  ["dependencies", kindBits.object],
  ["unevaluatedProperties", kindBits.object],
  ["propertyNames", kindBits.object],
  ["unevaluatedItems", kindBits.array],
  ["contains", kindBits.array],
]);

/** The keywords that a type for `kinds` of values leaves out, as a comment names them. */
export function inexpressibleIn(node: SchemaNode, kinds: Kinds): readonly string[] {
  const used = [...inexpressible].filter(
    ([keyword, about]) => (about & kinds) !== 0 && isEffective(node, keyword),
  );
  return used.map(([keyword]) => (keyword === "if" ? "if/then/else" : keyword));
}

function isEffective(node: SchemaNode, keyword: string): boolean {
  if (keyword === "dependentRequired" || keyword === "dependencies")
    return keywordOf(node, keyword) !== undefined;
  // Alone, a condition has no consequence.
  if (keyword === "if" && edgeOf(node, "then") === undefined && edgeOf(node, "else") === undefined)
    return false;
  if (keyword === "not" || keyword === "if") return edgeOf(node, keyword) !== undefined;
  return edgesOf(node, keyword).some(({ schema }) =>
    keyword === "propertyNames" ? !acceptsAnyName(schema) : schema !== true,
  );
}
