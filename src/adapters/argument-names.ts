import { toProviderSchema } from "../catalog/provider-schema.ts";
import type { JsonObject } from "../text/json-object.ts";

/**
 * What Anthropic takes as the name of an argument. `filter[id]` or `$top` in one tool make it refuse the
 * whole request, and with it the tools of all other servers.
 */
const acceptedName = /^[A-Za-z0-9_.-]{1,64}$/;
const maxLength = 64;

interface ShownTool {
  readonly schema: JsonObject;
  readonly originals: OriginalNames;
}

/** By the name that the model sees, the one that the server knows; undefined when all are the same. */
type OriginalNames = ReadonlyMap<string, string> | undefined;

/** Names alone are kept: whoever asks for a schema may change what he gets. */
const knownNames = new WeakMap<object, { readonly originals: OriginalNames }>();

/** The input schema for every provider, with names of arguments that every provider takes. */
export function shownSchema(inputSchema: object): JsonObject {
  return shownTool(inputSchema).schema;
}

/** Arguments as the server names them, from a model that has read the schema above. */
export function originalArguments<Input extends JsonObject>(
  inputSchema: object,
  input: Input,
): Input {
  const { originals } = knownNames.get(inputSchema) ?? shownTool(inputSchema);
  if (originals === undefined) return input;
  const entries = Object.entries(input).map(([shown, value]) => {
    const name = originals.get(shown) ?? shown;
    // A model may know the server's own name from an error, and use that one.
    return [Object.hasOwn(input, name) ? shown : name, value] as const;
  });
  return Object.fromEntries(entries) as Input;
}

function shownTool(inputSchema: object): ShownTool {
  const shown = withShownNames(toProviderSchema(inputSchema));
  knownNames.set(inputSchema, { originals: shown.originals });
  return shown;
}

function withShownNames(schema: JsonObject): ShownTool {
  const properties = schema["properties"] as JsonObject;
  const names = Object.keys(properties);
  if (names.every((name) => acceptedName.test(name))) return { schema, originals: undefined };
  const taken = new Set(names.filter((name) => acceptedName.test(name)));
  const shownNames = new Map(
    names.map((name) => [name, acceptedName.test(name) ? name : freeName(name, taken)]),
  );
  const renamed = (name: string): string => shownNames.get(name) ?? name;
  const required = schema["required"] as readonly string[] | undefined;
  return {
    // Once more, because what pointed at a name points at nothing now.
    schema: toProviderSchema({
      ...schema,
      properties: Object.fromEntries(names.map((name) => [renamed(name), properties[name]])),
      ...(required === undefined ? {} : { required: required.map((name) => renamed(name)) }),
    }),
    originals: new Map([...shownNames].map(([name, shown]) => [shown, name])),
  };
}

function freeName(name: string, taken: Set<string>): string {
  const base = name.replaceAll(/[^A-Za-z0-9_.-]/g, "_") || "_";
  let shown = base.slice(0, maxLength);
  for (let count = 2; taken.has(shown); count += 1) {
    const suffix = `_${count}`;
    shown = `${base.slice(0, maxLength - suffix.length)}${suffix}`;
  }
  taken.add(shown);
  return shown;
}
