import type { JsonSchema } from "./json-schema.ts";
import type { SchemaEdge, SchemaGraph, SchemaNode, SchemaProblem } from "./schema-graph.ts";

/** A chain of references longer than this makes the schema count as unbounded. */
const maxDepth = 400;
const maxWork = 20_000;
const maxMembers = 1_000;

/**
 * The number of schemas applied to one part of a value along the heaviest path; `isRecursive` if the path
 * returns to itself.
 */
interface Weight {
  readonly count: number;
  readonly isRecursive: boolean;
}

const light: Weight = { count: 1, isRecursive: false };

/**
 * Estimates the greatest number of schemas that a check applies to any one part of a value. Composition
 * multiplies: two alternatives that both describe a property check it twice, and when that property
 * again has two, four times. `Infinity` means growth with the depth of the value (a recursive schema
 * that checks the same part twice), or a schema with too many paths to count.
 */
export function estimateCost(graph: SchemaGraph): number | SchemaProblem {
  if (typeof graph.root === "boolean") return 1;
  const root = graph.nodes.get(graph.root);
  if (root === undefined) return 1;
  const estimate = new CostEstimate(graph);
  for (const node of graph.nodes.values()) {
    const count = estimate.countInPlace(node);
    if (count === "endless") return { problem: "it refers to itself without end" };
  }
  return estimate.weigh(root).count;
}

class CostEstimate {
  readonly #graph: SchemaGraph;
  readonly #counts = new Map<SchemaNode, number | "open">();
  readonly #weights = new Map<SchemaNode, Weight | "open">();
  #work = 0;
  #depth = 0;

  constructor(graph: SchemaGraph) {
    this.#graph = graph;
  }

  /** Counts the schemas that `node` applies to the value itself, not to its parts; `node` counts as one. */
  countInPlace(node: SchemaNode): number | "endless" {
    if (node.references.length === 0 && !node.edges.some(isInPlace)) return 1;
    const known = this.#counts.get(node);
    if (known === "open") return "endless";
    if (known !== undefined) return known;
    if (this.#depth >= maxDepth) return Number.POSITIVE_INFINITY;
    this.#counts.set(node, "open");
    this.#depth += 1;
    let count = 1;
    for (const member of this.#inPlace(node)) {
      const innerCount = this.countInPlace(member);
      if (innerCount === "endless") return "endless";
      count += innerCount;
    }
    this.#depth -= 1;
    // Finding the unevaluated parts runs the same subschemas a second time.
    const inner = count - 1;
    for (const keyword of ["unevaluatedProperties", "unevaluatedItems"])
      if (node.schema[keyword] !== undefined) count += inner;
    this.#counts.set(node, count);
    return count;
  }

  /** Returns the weight of the heaviest part of a value that `node` checks. */
  weigh(node: SchemaNode): Weight {
    if (node.edges.length === 0 && node.references.length === 0) return light;
    const known = this.#weights.get(node);
    if (known === "open") return { count: 1, isRecursive: true };
    if (known !== undefined) return known;
    const count = this.countInPlace(node);
    const isTangled = this.#depth >= maxDepth || this.#work > maxWork;
    if (isTangled || count === "endless" || count > maxMembers)
      return { count: Number.POSITIVE_INFINITY, isRecursive: false };
    this.#weights.set(node, "open");
    this.#depth += 1;
    let heaviest: Weight = { count, isRecursive: false };
    // A schema without in-place subschemas or overlapping keywords meets each part once: no tables needed.
    if (count === 1 && !node.edges.some(mayOverlapOthers))
      for (const { schema } of node.edges)
        heaviest = heavier(heaviest, this.#weighTogether([schema]));
    else
      for (const part of this.#parts(node)) heaviest = heavier(heaviest, this.#weighTogether(part));
    if (this.#work > maxWork) heaviest = { ...heaviest, count: Number.POSITIVE_INFINITY };
    this.#depth -= 1;
    this.#weights.set(node, heaviest);
    return heaviest;
  }

  #weighTogether(schemas: readonly JsonSchema[]): Weight {
    let total = 0;
    let isRecursive = false;
    for (const schema of schemas) {
      const node = this.#nodeOf(schema);
      const weight = node === undefined ? light : this.weigh(node);
      total += weight.count;
      isRecursive ||= weight.isRecursive;
    }
    const count = isRecursive && schemas.length > 1 ? Number.POSITIVE_INFINITY : total;
    return { count, isRecursive };
  }

  /**
   * Yields, for each part of a value (a named property, any other property, a position …), the schemas it
   * meets.
   */
  *#parts(node: SchemaNode): Generator<readonly JsonSchema[]> {
    const members = this.#members(node);
    for (const place of ["property", "item", "name"] as const) {
      const tables = members.map((member) => describedParts(member, place));
      const keys = new Set(tables.flatMap(({ keyed }) => [...keyed.keys()]));
      yield tables.flatMap(({ rest, always }) => [...rest, ...always]);
      for (const key of keys) {
        this.#work += tables.length;
        if (this.#work > maxWork) return;
        yield tables.flatMap(({ keyed, rest, always }) => {
          const own = keyed.get(key);
          return own === undefined ? [...rest, ...always] : [own, ...always];
        });
      }
    }
  }

  /** Lists every schema that meets the same value as `node`; one that meets it twice is listed twice. */
  #members(node: SchemaNode): readonly SchemaNode[] {
    const members: SchemaNode[] = [];
    const pending = [node];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      this.#work += 1;
      members.push(next);
      pending.push(...this.#inPlace(next));
    }
    return members;
  }

  #inPlace(node: SchemaNode): readonly SchemaNode[] {
    const inner = node.edges.filter(isInPlace).map(({ schema }) => schema);
    return [...node.references, ...inner]
      .map((schema) => this.#nodeOf(schema))
      .filter((found) => found !== undefined);
  }

  #nodeOf(schema: JsonSchema): SchemaNode | undefined {
    return typeof schema === "boolean" ? undefined : this.#graph.nodes.get(schema);
  }
}

/** The subschemas of one schema, sorted by the parts of a value they meet. */
interface DescribedParts {
  readonly keyed: ReadonlyMap<string, JsonSchema>;
  /** Subschemas for the parts that have no key in `keyed`. */
  readonly rest: readonly JsonSchema[];
  /** Subschemas that may meet any part. */
  readonly always: readonly JsonSchema[];
}

/** Keywords that may meet a part which another keyword of the same schema meets as well. */
const mayOverlap: ReadonlySet<string> = new Set([
  "patternProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "contains",
]);
const keyedKeywords: ReadonlySet<string> = new Set(["properties", "prefixItems", "items"]);

function describedParts(node: SchemaNode, place: "property" | "item" | "name"): DescribedParts {
  const keyed = new Map<string, JsonSchema>();
  const rest: JsonSchema[] = [];
  const always: JsonSchema[] = [];
  for (const edge of node.edges) {
    if (edge.place !== place) continue;
    if (edge.key !== undefined && keyedKeywords.has(edge.keyword))
      keyed.set(String(edge.key), edge.schema);
    else if (mayOverlap.has(edge.keyword)) always.push(edge.schema);
    else rest.push(edge.schema);
  }
  return { keyed, rest, always };
}

function isInPlace({ place }: SchemaEdge): boolean {
  return place === "same";
}

function mayOverlapOthers({ keyword }: SchemaEdge): boolean {
  return mayOverlap.has(keyword);
}

function heavier(a: Weight, b: Weight): Weight {
  if (b.count <= a.count && b.isRecursive === a.isRecursive) return a;
  return {
    count: Math.max(a.count, b.count),
    isRecursive: a.isRecursive || b.isRecursive,
  };
}
