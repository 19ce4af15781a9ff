import {
  AcceptedKinds,
  allKinds,
  kindBits,
  kindOfValue,
  type Kinds,
  listedValues,
  maxListedValues,
  partsInPlace,
} from "./accepted-kinds.ts";
import { arrayForm, isJsonObject, type JsonSchema, type JsonSchemaObject } from "./json-schema.ts";
import { edgeOf, edgesOf, keywordOf } from "./schema-check.ts";
import type { SchemaGraph, SchemaNode } from "./schema-graph.ts";
import { referencesIn } from "./schema-references.ts";
import { descriptionText } from "./source-text.ts";
import { pascalCase, type TypeNames } from "./type-names.ts";
import {
  anyObjectType,
  arrayOf,
  atom,
  declaration,
  emptyObjectType,
  type Field,
  intersectionOf,
  literalOf,
  neverType,
  objectOf,
  tupleOf,
  type TypeText,
  unionOf,
  unknownType,
  widened,
} from "./type-text.ts";

/** Text for one schema, comments included; the longest tools of published servers need 6,000. */
const maxLength = 200_000;
/** What a part costs beside its names and values: punctuation and indentation. */
const partLength = 40;
/** Intersections are multiplied out by the compiler, which gives up at 100,000. */
const maxWidth = 1_000;
const maxTupleLength = 100;

/** Objects have these without having a field of the name. */
const inheritedNames: ReadonlySet<string> = new Set(
  "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf".split(
    " ",
  ),
);

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

export interface TypeEmitterOptions {
  /** Names in the file that the declarations go to. */
  readonly names: TypeNames;
  /** What the names of types for `$ref` begin with. */
  readonly prefix: string;
}

interface Pending {
  readonly name: string;
  readonly schema: JsonSchemaObject;
  readonly kinds: Kinds;
  readonly documentation: string | undefined;
}

/**
 * Writes one schema as declarations of TypeScript. A type accepts every value that the schema
 * accepts: where it cannot say the same it says less, and a comment names the keyword.
 */
export class TypeEmitter {
  readonly #graph: SchemaGraph;
  readonly #options: TypeEmitterOptions;
  readonly #accepted: AcceptedKinds;
  readonly #names = new Map<JsonSchemaObject, Map<Kinds, string>>();
  readonly #pending: Pending[] = [];
  #length = 0;

  constructor(graph: SchemaGraph, options: TypeEmitterOptions) {
    this.#graph = graph;
    this.#options = options;
    this.#accepted = new AcceptedKinds(graph);
  }

  /** Declares the whole schema as `name`, limited to `kinds` of values, and all that it refers to. */
  declare(name: string, kinds: Kinds, documentation?: string): readonly string[] {
    const { root } = this.#graph;
    if (typeof root === "boolean")
      return [declaration(name, restrict(root ? unknownType : neverType, kinds), documentation)];
    this.#enqueue({ name, schema: root, kinds: kinds & this.#accepted.of(root), documentation });
    return this.#declarePending();
  }

  /** The fields that the schema itself declares. */
  fields(): readonly Field[] {
    const { root, nodes } = this.#graph;
    const node = isJsonObject(root) ? nodes.get(root) : undefined;
    return (node === undefined || node.isReferenceOnly ? undefined : this.#fields(node)) ?? [];
  }

  #declarePending(): readonly string[] {
    const declarations: string[] = [];
    // The list grows while it is walked.
    for (const { name, schema, kinds, documentation } of this.#pending)
      declarations.push(declaration(name, this.#typeOf(schema, kinds), documentation));
    return declarations;
  }

  #enqueue(pending: Pending): void {
    const { schema, kinds, name } = pending;
    const known = this.#names.get(schema);
    if (known === undefined) this.#names.set(schema, new Map([[kinds, name]]));
    else known.set(kinds, name);
    this.#pending.push(pending);
  }

  /** The values of `kinds` that `schema` accepts. */
  #typeOf(schema: JsonSchema, within: Kinds): TypeText {
    const kinds = within & this.#accepted.of(schema);
    if (kinds === 0) return neverType;
    const node = isJsonObject(schema) ? this.#graph.nodes.get(schema) : undefined;
    if (node === undefined) return restrict(unknownType, kinds);
    this.#length += partLength;
    if (this.#length > maxLength) return restrict(atom("unknown", ["too large"]), kinds);
    const own = node.isReferenceOnly
      ? unknownType
      : widened(this.#ownType(node, kinds), inexpressibleIn(node, kinds));
    if (this.#accepted.width(node.schema, kinds) > maxWidth)
      return restrict(widened(own, ["too many alternatives"]), kinds);
    const { oneEach } = partsInPlace(node);
    const type = intersectionOf([
      own,
      ...this.#references(node, kinds),
      ...(node.isReferenceOnly ? [] : edgesOf(node, "allOf")).map((edge) =>
        this.#typeOf(edge.schema, kinds),
      ),
      ...oneEach.map((list) => unionOf(list.map((entry) => this.#typeOf(entry, kinds)))),
    ]);
    // Kinds were left out so far where the parts might imply them.
    return restrict(type, kinds);
  }

  #references(node: SchemaNode, kinds: Kinds): readonly TypeText[] {
    const texts = referencesIn(node.schema, this.#graph.dialect);
    return node.references.map((target, index) => {
      if (!isJsonObject(target)) return this.#typeOf(target, kinds);
      const targetKinds = kinds & this.#accepted.of(target);
      const known = this.#names.get(target)?.get(targetKinds);
      if (known !== undefined) return atom(known);
      const { names, prefix } = this.#options;
      const name = names.take(`${prefix}${referenceName(texts[index]?.text ?? "")}`);
      const documentation = descriptionText(target["description"]);
      this.#enqueue({ name, schema: target, kinds: targetKinds, documentation });
      return atom(name);
    });
  }

  /** What the schema says itself; `unknown` when it says nothing that its parts do not say. */
  #ownType(node: SchemaNode, kinds: Kinds): TypeText {
    const values = listedValues(node)?.filter((value) => (kindOfValue(value) & kinds) !== 0);
    if (values !== undefined) {
      const length = this.#length + JSON.stringify(values).length;
      if (values.length > maxListedValues || length > maxLength)
        return widened(kindsType(kinds), [`${values.length} values`]);
      this.#length = length;
      return unionOf(values.map((value) => literalOf(value)));
    }
    const object = (kinds & kindBits.object) === 0 ? undefined : this.#objectType(node);
    const array = (kinds & kindBits.array) === 0 ? undefined : this.#arrayType(node);
    const isSilent = object === undefined && array === undefined;
    return isSilent && hasParts(node) && this.#accepted.isImplied(node, kinds)
      ? unknownType
      : kindsType(kinds, object, array);
  }

  /** Undefined when the schema says nothing about objects. */
  #objectType(node: SchemaNode): TypeText | undefined {
    const additional = edgeOf(node, "additionalProperties");
    const patterns = edgesOf(node, "patternProperties");
    const fields = this.#fields(node);
    if (fields === undefined) return widened(anyObjectType, ["too large"]);
    const isSilent = additional === undefined || additional === true;
    if (fields.length === 0 && patterns.length === 0 && isSilent) return undefined;
    // Without a word about other fields they are allowed, but writing one is most likely a mistake.
    if (additional === undefined && patterns.length === 0) return objectOf(fields);
    if (additional === false && patterns.length === 0)
      return fields.length === 0 ? emptyObjectType : objectOf(fields);
    const others = [...patterns.map(({ schema }) => schema), additional ?? true];
    return objectWithOthers(
      fields,
      unionOf(others.map((schema) => this.#typeOf(schema, allKinds))),
      patterns.length > 0 ? ["patternProperties"] : [],
    );
  }

  /**
   * Declared properties in the order of the schema, then required ones it forgot to declare.
   * Undefined when there are too many of them.
   */
  #fields(node: SchemaNode): readonly Field[] | undefined {
    const properties = keywordOf(node, "properties");
    const required = keywordOf(node, "required");
    const needed = new Set(Array.isArray(required) ? (required as readonly string[]) : []);
    const declared = new Set(isJsonObject(properties) ? Object.keys(properties) : []);
    const schemas = new Map(edgesOf(node, "properties").map(({ key, schema }) => [key, schema]));
    const fields: Field[] = [];
    for (const name of new Set([...declared, ...needed])) {
      const schema = schemas.get(name) ?? this.#undeclared(node, declared.has(name));
      const isRequired = needed.has(name);
      const description = isJsonObject(schema) ? descriptionText(schema["description"]) : undefined;
      this.#length += partLength + name.length + (description?.length ?? 0);
      if (this.#length > maxLength) return undefined;
      const isInherited = !isRequired && inheritedNames.has(name);
      const type = isInherited
        ? atom("unknown", ["every object inherits the name"])
        : this.#typeOf(schema, allKinds);
      fields.push({ name, type, isRequired, description });
    }
    return fields;
  }

  /** What holds for a property that is only required. */
  #undeclared(node: SchemaNode, isDeclared: boolean): JsonSchema {
    const hasPatterns = edgesOf(node, "patternProperties").length > 0;
    return isDeclared || hasPatterns ? true : (edgeOf(node, "additionalProperties") ?? true);
  }

  /** Undefined when the schema says nothing about arrays. */
  #arrayType(node: SchemaNode): TypeText | undefined {
    const { prefixKeyword, restKeyword } = arrayForm(node.schema);
    const rest = edgeOf(node, restKeyword);
    const prefix: JsonSchema[] = [];
    for (const { key, schema } of edgesOf(node, prefixKeyword))
      if (typeof key === "number") prefix[key] = schema;
    if (prefix.length === 0) {
      if (rest === undefined || rest === true) return undefined;
      if (rest === false) return tupleOf({ prefix: [], required: 0, rest: undefined });
      return arrayOf(this.#typeOf(rest, allKinds));
    }
    if (prefix.length > maxTupleLength) return widened(arrayOf(unknownType), ["a long tuple"]);
    const least = keywordOf(node, "minItems");
    const most = keywordOf(node, "maxItems");
    const isEnded = rest === false || (typeof most === "number" && most <= prefix.length);
    return tupleOf({
      // A place without a schema is left to the server.
      prefix: Array.from(prefix, (schema: JsonSchema | undefined) =>
        this.#typeOf(schema ?? true, allKinds),
      ),
      required: typeof least === "number" ? least : 0,
      rest: isEnded ? undefined : this.#typeOf(rest ?? true, allKinds),
    });
  }
}

/** `type` where it says nothing but which kinds there are. */
function restrict(type: TypeText, kinds: Kinds): TypeText {
  return type.text === unknownType.text ? widened(kindsType(kinds), type.wider) : type;
}

function kindsType(kinds: Kinds, object?: TypeText, array?: TypeText): TypeText {
  const isEverything = kinds === allKinds && object === undefined && array === undefined;
  if (isEverything) return unknownType;
  const types: TypeText[] = [];
  if ((kinds & kindBits.object) !== 0) types.push(object ?? anyObjectType);
  if ((kinds & kindBits.array) !== 0) types.push(array ?? arrayOf(unknownType));
  for (const kind of ["string", "number", "boolean", "null"] as const)
    if ((kinds & kindBits[kind]) !== 0) types.push(atom(kind));
  return unionOf(types);
}

/** TypeScript wants the type of every named field to fit the one of the others. */
function objectWithOthers(
  fields: readonly Field[],
  others: TypeText,
  reasons: readonly string[],
): TypeText {
  const isUnknown = others.text === unknownType.text;
  const doFit = isUnknown || fields.every(({ type }) => type.text === others.text);
  if (!doFit) return objectOf(fields, atom("unknown", [...reasons, "additionalProperties"]));
  const hasOptional = fields.some(({ isRequired }) => !isRequired);
  const index = hasOptional ? unionOf([others, atom("undefined")]) : others;
  return objectOf(fields, widened(index, reasons));
}

function inexpressibleIn(node: SchemaNode, kinds: Kinds): readonly string[] {
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

/** Names are strings, so `{ "type": "string" }` asks nothing of them. */
function acceptsAnyName(schema: JsonSchema): boolean {
  if (typeof schema === "boolean") return schema;
  return Object.keys(schema).every((keyword) => keyword === "type" && schema[keyword] === "string");
}

function hasParts(node: SchemaNode): boolean {
  const { all, oneEach } = partsInPlace(node);
  return all.length + oneEach.length > 0;
}

/** `#/$defs/User` reads as `User`; escaped characters are none that a name could have. */
function referenceName(reference: string): string {
  const last = reference.slice(reference.lastIndexOf("/") + 1);
  return pascalCase(last.replaceAll(/%[0-9A-Fa-f]{2}|~[01]/g, " ")).slice(0, 64) || "Part";
}
