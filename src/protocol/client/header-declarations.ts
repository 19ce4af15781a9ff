import { isJsonObject, type JsonObject } from "../../text/json-object.ts";

/** An argument that travels in a header as well, so that proxies can route by it. */
export interface HeaderDeclaration {
  /** The keys that lead to the argument, from the arguments downwards. */
  readonly path: readonly string[];
  /** The name of the header behind `Mcp-Param-`. */
  readonly name: string;
}

const keyword = "x-mcp-header";
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const mirroredTypes: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/** Keywords that hold one schema or a list of them. */
const schemaKeywords = [
  "items",
  "prefixItems",
  "contains",
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "propertyNames",
  "oneOf",
  "anyOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
];
/** Keywords that hold schemas by name. */
const schemaMapKeywords = ["patternProperties", "dependentSchemas", "$defs", "definitions"];

/** More than any schema that is accepted elsewhere; what lies beyond is never looked at. */
const maxNodes = 10_000;

interface Place {
  readonly schema: unknown;
  /** Undefined where no argument can be named for certain: below lists, alternatives, definitions. */
  readonly path: readonly string[] | undefined;
}

/**
 * The headers a tool's input schema declares, or what is wrong with them. A declaration must name a
 * header once, in characters a header may have, for a plain value that is at a fixed place.
 */
export function readHeaderDeclarations(
  inputSchema: unknown,
): readonly HeaderDeclaration[] | { readonly problem: string } {
  const declarations = new Map<string, HeaderDeclaration>();
  const places: Place[] = [{ schema: inputSchema, path: [] }];
  for (let index = 0; index < Math.min(places.length, maxNodes); index += 1) {
    const { schema, path } = places[index] as Place;
    if (!isJsonObject(schema)) continue;
    if (Object.hasOwn(schema, keyword)) {
      const name = schema[keyword];
      const problem = declarationProblem(schema, path);
      if (problem !== undefined || path === undefined || typeof name !== "string")
        return { problem: problem ?? "it declares a header in the wrong place" };
      if (declarations.has(name.toLowerCase()))
        return { problem: "it declares the same header twice" };
      declarations.set(name.toLowerCase(), { path, name });
    }
    addSubschemas(places, schema, path);
  }
  return [...declarations.values()];
}

function declarationProblem(
  schema: JsonObject,
  path: readonly string[] | undefined,
): string | undefined {
  if (path === undefined || path.length === 0) return "it declares a header in the wrong place";
  const name = schema[keyword];
  if (typeof name !== "string" || !token.test(name))
    return "it declares a header whose name no header may have";
  if (!mirroredTypes.has(schema["type"])) return "it declares a header for what is no plain value";
  return undefined;
}

function addSubschemas(places: Place[], schema: JsonObject, path: Place["path"]): void {
  const { properties } = schema;
  if (isJsonObject(properties))
    for (const [key, child] of Object.entries(properties))
      places.push({ schema: child, path: path && [...path, key] });
  const nowhere = undefined;
  for (const name of schemaKeywords) {
    const child = schema[name];
    for (const item of Array.isArray(child) ? (child as unknown[]) : [child])
      if (isJsonObject(item)) places.push({ schema: item, path: nowhere });
  }
  for (const name of schemaMapKeywords) {
    const children = schema[name];
    if (!isJsonObject(children)) continue;
    for (const child of Object.values(children)) places.push({ schema: child, path: nowhere });
  }
}
