import { isJsonObject } from "../../text/json-object.ts";
import {
  addressKeyword,
  type Dialect,
  isJsonSchema,
  type JsonSchema,
  type JsonSchemaObject,
  refHidesSiblings,
} from "./json-schema.ts";
import { readKeywords } from "./keyword-rules.ts";

/** A referring keyword and the text of its reference. */
export interface Reference {
  readonly keyword: "$ref" | "$dynamicRef" | "$recursiveRef";
  readonly text: string;
}

const none: readonly Reference[] = [];

/** Lists the references in `schema` that the dialect knows. */
export function referencesIn(schema: JsonSchemaObject, dialect: Dialect): readonly Reference[] {
  const { $ref, $dynamicRef, $recursiveRef } = schema as Readonly<Record<string, unknown>>;
  if ($ref === undefined && $dynamicRef === undefined && $recursiveRef === undefined) return none;
  const found: Reference[] = [];
  if (typeof $ref === "string") found.push({ keyword: "$ref", text: $ref });
  if (typeof $dynamicRef === "string" && dialect === "2020-12")
    found.push({ keyword: "$dynamicRef", text: $dynamicRef });
  if ($recursiveRef === "#" && dialect === "2019-09")
    found.push({ keyword: "$recursiveRef", text: "#" });
  return found;
}

/** The address of a document without a `$id`. It is only compared, never opened. */
const nameless = "schema://document/";

export type Resolution =
  | { readonly schema: JsonSchema; readonly base: string }
  | { readonly problem: string };

/**
 * Resolves the references inside one schema document. An address only ever names a part of the
 * document itself: nothing is fetched, and nothing is shared between documents, so two servers may
 * use the same `$id` for different schemas.
 */
export class SchemaReferences {
  readonly #dialect: Dialect;
  readonly #bases = new Map<JsonSchemaObject, string>();
  /** Resources and anchors by address; null marks an address that two parts claim. */
  readonly #targets = new Map<string, JsonSchemaObject | null>();
  readonly #dynamicAnchors = new Map<string, JsonSchemaObject[]>();
  readonly #recursiveRoots: JsonSchemaObject[] = [];
  readonly #found = new Map<string, Resolution>();

  constructor(document: JsonSchemaObject, dialect: Dialect) {
    this.#dialect = dialect;
    this.#targets.set(nameless, document);
    const pending = [{ schema: document, base: nameless }];
    for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
      const base = this.#register(entry.schema, entry.base);
      for (const { schema } of readKeywords(entry.schema, dialect).subschemas)
        if (isJsonObject(schema)) pending.push({ schema, base });
    }
  }

  /** Finds the schema that the reference `text` under `keyword` of `schema` points at. */
  resolve({ keyword, text }: Reference, schema: JsonSchemaObject, inherited?: string): Resolution {
    const base = this.#baseOf(schema, inherited);
    if (keyword === "$ref") return this.#find(text, base);
    if (keyword === "$dynamicRef") return this.#findDynamic(text, base);
    if (this.#recursiveRoots.length <= 1) return this.#find("#", base);
    return { problem: "it uses $recursiveRef across several embedded schemas" };
  }

  /** Returns the address that relative references inside `schema` are resolved against. */
  #baseOf(schema: JsonSchemaObject, inherited: string = nameless): string {
    return this.#bases.get(schema) ?? inherited;
  }

  #find(reference: string, base: string): Resolution {
    const key = `${base} ${reference}`;
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const resolution = this.#search(reference, base);
    this.#found.set(key, resolution);
    return resolution;
  }

  #search(reference: string, base: string): Resolution {
    const address = reference.startsWith("#") ? base + reference : join(reference, base);
    if (address === undefined) return { problem: `"${reference}" is not a valid reference` };
    const hash = address.indexOf("#");
    const resource = hash === -1 ? address : address.slice(0, hash);
    const fragment = hash === -1 ? "" : decodeFragment(address.slice(hash + 1));
    const isPointer = fragment === "" || fragment.startsWith("/");
    const target = this.#targets.get(isPointer ? resource : `${resource}#${fragment}`);
    if (target === null) return { problem: `two parts of it claim to be "${reference}"` };
    if (target === undefined) {
      const isOutside = !this.#targets.has(resource);
      return isOutside
        ? { problem: `it refers to "${reference}", which is outside of it and is never fetched` }
        : { problem: `it refers to "${reference}", which it does not contain` };
    }
    const schema = isPointer ? followPointer(target, fragment) : target;
    if (!isJsonSchema(schema))
      return { problem: `it refers to "${reference}", which it does not contain` };
    const inherited = this.#baseOf(target, resource);
    return { schema, base: isJsonObject(schema) ? this.#baseOf(schema, inherited) : inherited };
  }

  /** Resolves `$dynamicRef` like `$ref`, and refuses a document that uses it to override parts of itself. */
  #findDynamic(reference: string, base: string): Resolution {
    const resolution = this.#find(reference, base);
    if (!("schema" in resolution) || typeof resolution.schema !== "object") return resolution;
    const anchor = resolution.schema["$dynamicAnchor"];
    const isDynamic = typeof anchor === "string" && reference.endsWith(`#${anchor}`);
    if (!isDynamic || (this.#dynamicAnchors.get(anchor)?.length ?? 0) <= 1) return resolution;
    return { problem: "it uses $dynamicRef across several embedded schemas" };
  }

  /** Registers the address and anchors of `schema`; returns the base address for its subschemas. */
  #register(schema: JsonSchemaObject, inherited: string): string {
    let base = inherited;
    const name = schema[addressKeyword(this.#dialect)];
    const isHidden = refHidesSiblings(this.#dialect) && typeof schema["$ref"] === "string";
    if (typeof name === "string" && !isHidden) {
      const address = join(name, inherited);
      if (address !== undefined && name.startsWith("#")) this.#claim(address, schema);
      else if (address !== undefined) {
        base = address.replace(/#.*$/s, "");
        this.#claim(base, schema);
      }
    }
    this.#bases.set(schema, base);
    for (const keyword of ["$anchor", "$dynamicAnchor"] as const) {
      const anchor = schema[keyword];
      if (typeof anchor === "string") this.#claim(`${base}#${anchor}`, schema);
    }
    const dynamic = schema["$dynamicAnchor"];
    if (typeof dynamic === "string") {
      const others = this.#dynamicAnchors.get(dynamic);
      if (others === undefined) this.#dynamicAnchors.set(dynamic, [schema]);
      else others.push(schema);
    }
    if (schema["$recursiveAnchor"] === true) this.#recursiveRoots.push(schema);
    return base;
  }

  #claim(address: string, schema: JsonSchemaObject): void {
    const holder = this.#targets.get(address);
    this.#targets.set(address, holder === undefined || holder === schema ? schema : null);
  }
}

function join(reference: string, base: string): string | undefined {
  try {
    return new URL(reference, base).href.replace(/#$/, "");
  } catch {
    return undefined;
  }
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

/** Finds the part of `root` that a JSON pointer names; undefined when there is none. */
export function followPointer(root: unknown, pointer: string): unknown {
  let part: unknown = root;
  for (const token of pointer.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof part !== "object" || part === null || !Object.hasOwn(part, key)) return undefined;
    part = (part as Readonly<Record<string, unknown>>)[key];
  }
  return part;
}
