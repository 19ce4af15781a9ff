import { isJsonObject } from "../../text/json-object.ts";
import { edgeOf, edgesOf, keywordOf } from "../compile/schema-check.ts";
import type { JsonSchema, JsonSchemaObject } from "../guard/json-schema.ts";
import type { SchemaGraph, SchemaNode } from "../guard/schema-graph.ts";
import { referencesIn } from "../guard/schema-references.ts";
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
import {
  allRules,
  type ArrayRules,
  arrayRules,
  findArrayRules,
  hasArrayRules,
  listsArrays,
} from "./array-rules.ts";
import { conjunctionOf, isOnlyReference } from "./conjuncts.ts";
import { conditionalFields, inexpressibleIn } from "./inexpressible-keywords.ts";
import { SharedFieldFinder } from "./shared-fields.ts";
import { descriptionText } from "./source-text.ts";
import { referenceName, type TypeNames } from "./type-names.ts";
import {
  anyObjectType,
  arrayOf,
  atom,
  declaration,
  emptyObjectType,
  kindsType,
  objectWithOthers,
  restrict,
  type Field,
  intersectionOf,
  literalOf,
  neverType,
  objectOf,
  optionalFields,
  tupleOf,
  type TypeText,
  unionOf,
  unknownType,
  widened,
} from "./type-text.ts";

/** Characters for one schema, comments included; the longest tools of published servers need 6,000. */
const maxLength = 200_000;
/** Characters of a part beside its names and values: punctuation and indentation. */
const partLength = 40;
/** Alternatives of one type. The compiler multiplies out intersections and gives up at 100,000. */
const maxWidth = 1_000;
const maxTupleLength = 100;
/** How deep lists and objects are merged inside of merged ones. */
const maxMergeDepth = 4;

/** Members that every object inherits: a type for an optional field of the name would refuse every object. */
const inheritedNames: ReadonlySet<string> = new Set(
  "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf".split(
    " ",
  ),
);

export interface TypeEmitterOptions {
  /** Names in the file that the declarations go to. */
  readonly names: TypeNames;
  /** The beginning of the names of types for `$ref`. */
  readonly prefix: string;
}

interface Pending {
  readonly name: string;
  readonly schema: JsonSchemaObject;
  readonly kinds: Kinds;
  readonly documentation: string | undefined;
}

/**
 * Writes one schema as TypeScript declarations. A type accepts every value that the schema accepts;
 * where TypeScript cannot express a keyword the type is wider, and a comment names the keyword.
 */
export class TypeEmitter {
  readonly #graph: SchemaGraph;
  readonly #options: TypeEmitterOptions;
  readonly #accepted: AcceptedKinds;
  readonly #names = new Map<JsonSchemaObject, Map<Kinds, string>>();
  readonly #pending: Pending[] = [];
  /** The nodes of the schema, and those of schemas that were merged from several of its parts. */
  readonly #nodes: Map<JsonSchemaObject, SchemaNode>;
  readonly #shared: SharedFieldFinder;
  readonly #canMergeItems: boolean;
  #mergeDepth = 0;
  #length = 0;

  constructor(graph: SchemaGraph, options: TypeEmitterOptions) {
    this.#nodes = new Map(graph.nodes);
    this.#graph = { ...graph, nodes: this.#nodes };
    this.#options = options;
    this.#accepted = new AcceptedKinds(this.#graph);
    this.#shared = new SharedFieldFinder(this.#graph);
    this.#canMergeItems = [...this.#nodes.values()].filter(hasArrayRules).length > 1;
  }

  /** Declares the whole schema as `name`, limited to `kinds` of values, and all that it refers to. */
  declare(name: string, kinds: Kinds, documentation?: string): readonly string[] {
    const { root } = this.#graph;
    if (typeof root === "boolean")
      return [declaration(name, restrict(root ? unknownType : neverType, kinds), documentation)];
    this.#enqueue({ name, schema: root, kinds: kinds & this.#accepted.of(root), documentation });
    return this.#declarePending();
  }

  /** The fields of the whole schema, which is declared as `name`; references are followed. */
  fields(name: string): readonly Field[] {
    const { root } = this.#graph;
    let node = isJsonObject(root) ? this.#nodes.get(root) : undefined;
    if (node === undefined) return [];
    const kinds = kindBits.object & this.#accepted.of(node.schema);
    this.#names.set(node.schema, new Map([[kinds, name]]));
    const followed = new Set<SchemaNode>();
    while (node !== undefined && isOnlyReference(node) && !followed.has(node)) {
      followed.add(node);
      // Reserves the name of the type of the target.
      this.#references(node, kinds);
      const target: JsonSchema | undefined = node.references[0];
      node = isJsonObject(target) ? this.#nodes.get(target) : undefined;
    }
    if (node === undefined || node.isReferenceOnly) return [];
    return this.#allFields(node, kinds)?.fields ?? [];
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
    const node = isJsonObject(schema) ? this.#nodes.get(schema) : undefined;
    if (node === undefined) return restrict(unknownType, kinds);
    this.#length += partLength;
    if (this.#length > maxLength) return restrict(atom("unknown", ["too large"]), kinds);
    const merged = (kinds & kindBits.array) === 0 ? undefined : this.#mergedArray(node);
    if (merged !== undefined)
      return unionOf([this.#typeOf(schema, kinds & ~kindBits.array), merged]);
    const object = (kinds & kindBits.object) === 0 ? undefined : this.#mergedObject(node);
    if (object !== undefined)
      return unionOf([object, this.#typeOf(schema, kinds & ~kindBits.object)]);
    const isTooWide = this.#accepted.width(node.schema, kinds) > maxWidth;
    const own = node.isReferenceOnly
      ? unknownType
      : widened(this.#ownType(node, kinds, isTooWide), inexpressibleIn(node, kinds));
    if (isTooWide) return restrict(widened(own, ["too many alternatives"]), kinds);
    if (own.text === unknownType.text && this.#opensParts(node, kinds))
      return restrict(widened(own, ["parts beside conditions"]), kinds);
    const { oneEach } = partsInPlace(node);
    const type = intersectionOf([
      own,
      ...this.#references(node, kinds),
      ...(node.isReferenceOnly ? [] : edgesOf(node, "allOf")).map((edge) =>
        this.#typeOf(edge.schema, kinds),
      ),
      ...oneEach.map((list) => unionOf(list.map((entry) => this.#typeOf(entry, kinds)))),
    ]);
    // Types of parts may have left out kinds that the other parts imply.
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

  /**
   * The type of a schema without its parts; `unknown` when the parts say all of it. `isOpen`: the parts
   * are left out of the result, and with them the fields that they name.
   */
  #ownType(node: SchemaNode, kinds: Kinds, isOpen: boolean): TypeText {
    const values = listedValues(node)?.filter((value) => (kindOfValue(value) & kinds) !== 0);
    if (values !== undefined) {
      const length = this.#length + JSON.stringify(values).length;
      if (values.length > maxListedValues || length > maxLength)
        return widened(kindsType(kinds), [`${values.length} values`]);
      this.#length = length;
      return unionOf(values.map((value) => literalOf(value)));
    }
    const object =
      (kinds & kindBits.object) === 0 ? undefined : this.#objectType(node, kinds, isOpen);
    const rules = (kinds & kindBits.array) === 0 ? undefined : arrayRules(node);
    const array = rules === undefined ? undefined : this.#arrayType(rules);
    const isSilent = object === undefined && array === undefined;
    if (!isSilent || !hasParts(node) || !this.#accepted.isImplied(node, kinds))
      return kindsType(kinds, object, array);
    if (kinds !== kindBits.object) return unknownType;
    const { isOpen: namesAny, names } = conditionalFields(this.#graph, node, false);
    if (namesAny) return anyObjectType;
    return names.size === 0 ? unknownType : objectOf(optionalFields(names));
  }

  /** Whether the types of the parts would refuse fields that only a condition names. */
  #opensParts(node: SchemaNode, kinds: Kinds): boolean {
    if ((kinds & kindBits.object) === 0 || kinds === kindBits.object || !hasParts(node))
      return false;
    const { isOpen, names } = conditionalFields(this.#graph, node, kinds === allKinds);
    return isOpen || names.size > 0;
  }

  /** The objects that a schema accepts; undefined when it says nothing about objects. */
  #objectType(node: SchemaNode, kinds: Kinds, isOpen: boolean): TypeText | undefined {
    const additional = edgeOf(node, "additionalProperties");
    const patterns = edgesOf(node, "patternProperties");
    const own = this.#allFields(node, kinds);
    if (own === undefined) return widened(anyObjectType, ["too large"]);
    const { fields } = own;
    const isSilent = additional === undefined || additional === true;
    if (fields.length === 0 && patterns.length === 0 && isSilent) return undefined;
    // JSON Schema allows other fields by default, but writing one is most likely a mistake.
    if (additional === undefined && patterns.length === 0)
      return objectOf(fields, isOpen || own.isOpen ? unknownType : undefined);
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
   * The fields of a schema that declares some, then those that only its conditions name, unless there
   * is a rule for all others. Undefined when there are too many.
   */
  #allFields(
    node: SchemaNode,
    kinds: Kinds,
  ): { readonly fields: readonly Field[]; readonly isOpen: boolean } | undefined {
    const fields = this.#fields(node);
    if (fields === undefined) return undefined;
    const hasRule =
      edgeOf(node, "additionalProperties") !== undefined ||
      edgesOf(node, "patternProperties").length > 0;
    if (hasRule || fields.length === 0) return { fields, isOpen: false };
    // `unknown` for every kind of value vanishes from an intersection, so the parts are searched as well.
    const { names, isOpen } = conditionalFields(this.#graph, node, kinds === allKinds);
    const known = new Set(fields.map(({ name }) => name));
    const conditional = optionalFields(names).filter(({ name }) => !known.has(name));
    for (const { name, description } of conditional)
      this.#length += partLength + name.length + (description?.length ?? 0);
    if (this.#length > maxLength) return undefined;
    const least = keywordOf(node, "minProperties");
    const count = fields.length + conditional.length;
    const needsMore = !hasParts(node) && typeof least === "number" && least > count;
    return { fields: [...fields, ...conditional], isOpen: isOpen || needsMore };
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
      fields.push(this.#field(name, schema, needed.has(name)));
      if (this.#length > maxLength) return undefined;
    }
    return fields;
  }

  #field(name: string, schema: JsonSchema, isRequired: boolean): Field {
    const description = isJsonObject(schema) ? descriptionText(schema["description"]) : undefined;
    this.#length += partLength + name.length + (description?.length ?? 0);
    const isInherited = !isRequired && inheritedNames.has(name);
    const type = isInherited
      ? atom("unknown", ["every object inherits the name"])
      : this.#typeOf(schema, allKinds);
    return { name, type, isRequired, description };
  }

  /** The schema of a property that is required but not declared. */
  #undeclared(node: SchemaNode, isDeclared: boolean): JsonSchema {
    const hasPatterns = edgesOf(node, "patternProperties").length > 0;
    return isDeclared || hasPatterns ? true : (edgeOf(node, "additionalProperties") ?? true);
  }

  #arrayType({ prefix, rest, least }: ArrayRules): TypeText {
    if (prefix.length > maxTupleLength) return widened(arrayOf(unknownType), ["a long tuple"]);
    const typeOfAll = (schemas: readonly JsonSchema[]): TypeText =>
      this.#typeOf(conjunctionOf(schemas, this.#nodes), allKinds);
    if (prefix.length === 0 && rest !== undefined) return arrayOf(typeOfAll(rest));
    return tupleOf({
      prefix: prefix.map((schemas) => typeOfAll(schemas)),
      required: least,
      rest: rest === undefined ? undefined : typeOfAll(rest),
    });
  }

  /**
   * The arrays of a schema where several of its parts have rules for the items; undefined otherwise.
   * TypeScript compares an item of a literal with each array type of an intersection by itself, and
   * refuses the fields that another one names.
   */
  #mergedArray(node: SchemaNode): TypeText | undefined {
    if (!this.#canMergeItems || !hasParts(node) || isOnlyReference(node)) return undefined;
    const { conjuncts, sources, choices } = findArrayRules(this.#graph, [node]);
    if (sources.length + choices < 2) return undefined;
    const reasons = conjuncts.flatMap((part) => inexpressibleIn(part, kindBits.array));
    // Each alternative would have to be merged with everything else.
    if (choices > 0) return widened(arrayOf(unknownType), [...reasons, "alternatives of items"]);
    const listing = sources.find((source) => listsArrays(source));
    if (listing !== undefined)
      return widened(this.#ownType(listing, kindBits.array, false), [...reasons, "items"]);
    if (this.#mergeDepth >= maxMergeDepth)
      return widened(arrayOf(unknownType), [...reasons, "too deep"]);
    this.#mergeDepth += 1;
    const rules = sources.flatMap((source) => arrayRules(source) ?? []);
    const type = this.#arrayType(allRules(rules));
    this.#mergeDepth -= 1;
    return widened(type, reasons);
  }

  /** The objects of a schema where an intersection would refuse valid literals; undefined otherwise. */
  #mergedObject(node: SchemaNode): TypeText | undefined {
    // The target of a reference is merged where it is declared.
    if (!hasParts(node) || isOnlyReference(node)) return undefined;
    const shared = this.#shared.find(node);
    if (shared === undefined) return undefined;
    const reasons = shared.conjuncts.flatMap((part) => inexpressibleIn(part, kindBits.object));
    if (shared.fields === undefined)
      return widened(anyObjectType, [...reasons, "alternatives of fields"]);
    if (this.#mergeDepth >= maxMergeDepth) return widened(anyObjectType, [...reasons, "too deep"]);
    this.#mergeDepth += 1;
    const fields = [...shared.fields].map(([name, schemas]) =>
      this.#field(name, conjunctionOf(schemas, this.#nodes), shared.required.has(name)),
    );
    const others = conjunctionOf(shared.others, this.#nodes);
    const index = others === true ? undefined : this.#typeOf(others, allKinds);
    this.#mergeDepth -= 1;
    if (this.#length > maxLength) return widened(anyObjectType, [...reasons, "too large"]);
    if (index !== undefined && index.text !== neverType.text)
      return widened(objectWithOthers(fields, index, []), reasons);
    const { names, isOpen } = conditionalFields(this.#graph, node, true);
    const conditional = optionalFields(names).filter(
      ({ name }) => shared.fields?.has(name) !== true,
    );
    const type = objectOf([...fields, ...conditional], isOpen ? unknownType : undefined);
    return widened(type, reasons);
  }
}

function hasParts(node: SchemaNode): boolean {
  const { all, oneEach } = partsInPlace(node);
  return all.length + oneEach.length > 0;
}
