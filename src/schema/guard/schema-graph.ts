import { isJsonObject } from "../../text/json-object.ts";
import {
  addressKeyword,
  type Dialect,
  dialectOf,
  isJsonSchema,
  type JsonSchema,
  type JsonSchemaObject,
  refHidesSiblings,
} from "./json-schema.ts";
import { readKeywords, type Subschema } from "./keyword-rules.ts";
import { type LinearPattern, toLinearPattern } from "./pattern-syntax.ts";
import { referencesIn, SchemaReferences } from "./schema-references.ts";

export interface SchemaEdge extends Subschema {
  readonly schema: JsonSchema;
}

/** One schema object that a check can reach. */
export interface SchemaNode {
  readonly schema: JsonSchemaObject;
  /** The schemas that `$ref`, `$dynamicRef` and `$recursiveRef` point at. */
  readonly references: readonly JsonSchema[];
  /** True for a `$ref` of an old dialect, which turns off all keywords beside it. */
  readonly isReferenceOnly: boolean;
  readonly edges: readonly SchemaEdge[];
  /** Keywords that only the server checks: malformed ones, and patterns that cannot run safely. */
  readonly skipped: ReadonlySet<string>;
  /**
   * True if this schema or one inside it skips a keyword: a value it accepts only may match. `not`, `if`
   * and `oneOf` draw no conclusion from such a match.
   */
  isUncertain: boolean;
}

/** The part of a schema document that checking can reach, with every reference resolved. */
export interface SchemaGraph {
  readonly dialect: Dialect;
  readonly root: JsonSchema;
  readonly nodes: ReadonlyMap<JsonSchemaObject, SchemaNode>;
  readonly patterns: ReadonlyMap<string, LinearPattern>;
  /** Every skipped keyword with its place in the schema: `pattern at /properties/x`. */
  readonly unvalidated: readonly string[];
}

export interface SchemaProblem {
  readonly problem: string;
}

/** Builds the graph, or says why the schema cannot be used. Expects a document of bounded size. */
export function buildSchemaGraph(root: JsonSchema): SchemaGraph | SchemaProblem {
  const dialect = dialectOf(root);
  return dialect === undefined ? unsupported(root) : new GraphBuilder(root, dialect).build();
}

function unsupported(schema: JsonSchema): SchemaProblem {
  const { $schema } = schema as Readonly<Record<string, unknown>>;
  return { problem: `its "$schema" is "${String($schema)}", a dialect that is not supported` };
}

/** A schema that waits to enter the graph, with the edge or reference that led to it. */
interface Reached {
  readonly schema: JsonSchemaObject;
  readonly parent: Reached | undefined;
  readonly edge: SchemaEdge | undefined;
  /** The reference that led to this schema. */
  readonly reference?: string;
  readonly base?: string | undefined;
}

const noReferences: readonly JsonSchema[] = [];
const nothing: ReadonlySet<string> = new Set();

class GraphBuilder {
  readonly #root: JsonSchema;
  readonly #dialect: Dialect;
  readonly #nodes = new Map<JsonSchemaObject, SchemaNode>();
  readonly #patterns = new Map<string, LinearPattern>();
  readonly #unvalidated: string[] = [];
  readonly #pending: Reached[] = [];
  /** Built with the first reference: most schemas have none and need no table of addresses. */
  #references: SchemaReferences | undefined;

  constructor(root: JsonSchema, dialect: Dialect) {
    this.#root = root;
    this.#dialect = dialect;
    if (isJsonObject(root))
      this.#pending.push({ schema: root, parent: undefined, edge: undefined });
  }

  build(): SchemaGraph | SchemaProblem {
    // The list grows while it is walked, so outer schemas come first.
    for (const next of this.#pending) {
      if (this.#nodes.has(next.schema)) continue;
      if (this.#isOfAnotherDialect(next.schema))
        return { problem: "a part of it with its own address is of another dialect" };
      const references = this.#resolveReferences(next);
      if ("problem" in references) return references;
      this.#addNode(next, references);
    }
    spreadUncertainty(this.#nodes);
    return {
      dialect: this.#dialect,
      root: this.#root,
      nodes: this.#nodes,
      patterns: this.#patterns,
      unvalidated: this.#unvalidated,
    };
  }

  /** Only a part with its own address may declare a dialect; elsewhere `$schema` is ignored. */
  #isOfAnotherDialect(schema: JsonSchemaObject): boolean {
    if (schema["$schema"] === undefined || schema === this.#root) return false;
    const address = schema[addressKeyword(this.#dialect)];
    const isResource = typeof address === "string" && !address.startsWith("#");
    return isResource && dialectOf(schema) !== this.#dialect;
  }

  #resolveReferences(reached: Reached): readonly JsonSchema[] | SchemaProblem {
    const found = referencesIn(reached.schema, this.#dialect);
    if (found.length === 0 || !isJsonObject(this.#root)) return noReferences;
    this.#references ??= new SchemaReferences(this.#root, this.#dialect);
    const targets: JsonSchema[] = [];
    for (const reference of found) {
      const resolution = this.#references.resolve(reference, reached.schema, reached.base);
      if ("problem" in resolution) return resolution;
      const { schema, base } = resolution;
      targets.push(schema);
      if (isJsonObject(schema)) {
        const way = { parent: undefined, edge: undefined, reference: reference.text };
        this.#pending.push({ schema, base, ...way });
      }
    }
    return targets;
  }

  #addNode(reached: Reached, references: readonly JsonSchema[]): void {
    const { schema } = reached;
    const { subschemas, malformed } = readKeywords(schema, this.#dialect);
    const isReferenceOnly = references.length > 0 && refHidesSiblings(this.#dialect);
    const skipped = this.#skippedKeywords(schema, malformed, isReferenceOnly);
    for (const keyword of skipped) this.#leaveToServer(keyword, reached);
    let isUncertain = skipped.size > 0;
    const edges: SchemaEdge[] = [];
    for (const subschema of subschemas) {
      if (subschema.place === "none" || skipped.has(subschema.keyword)) continue;
      if (!isEdge(subschema)) {
        this.#leaveToServer(subschema.keyword, reached, subschema);
        isUncertain = true;
        continue;
      }
      edges.push(subschema);
      const { schema: child } = subschema;
      if (isJsonObject(child))
        this.#pending.push({ schema: child, parent: reached, edge: subschema, base: reached.base });
    }
    const node = { schema, references, isReferenceOnly, edges, skipped, isUncertain };
    this.#nodes.set(schema, node);
  }

  #skippedKeywords(
    schema: JsonSchemaObject,
    malformed: readonly string[],
    isReferenceOnly: boolean,
  ): ReadonlySet<string> {
    const { pattern, patternProperties } = schema as Readonly<Record<string, unknown>>;
    const hasPatterns = pattern !== undefined || patternProperties !== undefined;
    if (malformed.length === 0 && !hasPatterns) return nothing;
    const skipped = new Set(malformed);
    if (isReferenceOnly) return skipped;
    if (typeof pattern === "string" && !this.#canRun(pattern)) skipped.add("pattern");
    if (isJsonObject(patternProperties)) {
      const runnable = Object.keys(patternProperties).map((source) => this.#canRun(source));
      if (runnable.includes(false)) skipped.add("patternProperties");
    }
    // Without knowing which properties the others cover, nobody can tell which are additional.
    const isOpen = skipped.has("patternProperties") || skipped.has("properties");
    if (isOpen && schema["additionalProperties"] !== undefined) skipped.add("additionalProperties");
    return skipped;
  }

  #canRun(source: string): boolean {
    if (this.#patterns.has(source)) return true;
    const pattern = toLinearPattern(source);
    if (pattern !== undefined) this.#patterns.set(source, pattern);
    return pattern !== undefined;
  }

  #leaveToServer(keyword: string, reached: Reached, subschema?: Subschema): void {
    const below = subschema === undefined ? "" : step(subschema);
    this.#unvalidated.push(`${keyword} at ${pointerTo(reached) + below || "/"}`);
  }
}

function isEdge(subschema: Subschema): subschema is SchemaEdge {
  return isJsonSchema(subschema.schema);
}

/** Returns the JSON pointer to a schema within the document. */
function pointerTo(reached: Reached): string {
  let pointer = "";
  let place: Reached | undefined = reached;
  while (place?.edge !== undefined) {
    pointer = step(place.edge) + pointer;
    place = place.parent;
  }
  return (place?.reference ?? "").replace(/^#/, "") + pointer;
}

function step({ keyword, key }: Subschema): string {
  if (key === undefined) return `/${keyword}`;
  return `/${keyword}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function spreadUncertainty(nodes: ReadonlyMap<JsonSchemaObject, SchemaNode>): void {
  const pending = [...nodes.values()].filter(({ isUncertain }) => isUncertain);
  if (pending.length === 0) return;
  const users = new Map<JsonSchema, SchemaNode[]>();
  for (const node of nodes.values())
    for (const used of [...node.references, ...node.edges.map(({ schema }) => schema)]) {
      const known = users.get(used);
      if (known === undefined) users.set(used, [node]);
      else known.push(node);
    }
  for (let node = pending.pop(); node !== undefined; node = pending.pop())
    for (const user of users.get(node.schema) ?? [])
      if (!user.isUncertain) {
        user.isUncertain = true;
        pending.push(user);
      }
}
