import { entryKeys, identityKeys } from "./config-keys.ts";
import { type KeyTable, spellingsOf, type ValueShape } from "./value-shape.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Builds the JSON Schema of a configuration file, for editors. It covers shapes; `parseConfig` checks how
 * keys go together.
 */
export function configJsonSchema(): JsonSchema {
  const sharedKeys = Object.fromEntries(
    Object.entries<KeyTable[string]>(entryKeys).filter(([key]) => !identityKeys.has(key)),
  );
  const servers = {
    oneOf: [
      { type: "object", additionalProperties: { $ref: "#/definitions/server" } },
      { type: "array", items: { $ref: "#/definitions/namedServer" } },
    ],
  };
  const otherHosts = { description: "The same under the name other hosts use.", ...servers };
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Plugboard servers",
    description: "MCP servers for Plugboard: .plugboard/mcp.json or .mcp.json.",
    anyOf: [
      {
        type: "object",
        properties: {
          $schema: { type: "string" },
          servers: { description: "The servers by name, or as a list.", ...servers },
          mcpServers: otherHosts,
          mcp_servers: otherHosts,
          inputs: {
            ...shapeSchema(entryKeys.inputs.shape),
            description: "What `${input:id}` in any server of this file asks a person for.",
          },
          defaults: {
            description: "Keys that every server of this file takes over unless it has its own.",
            ...objectSchema(sharedKeys),
          },
        },
        additionalProperties: false,
      },
      { type: "array", items: { $ref: "#/definitions/namedServer" } },
      { $ref: "#/definitions/namedServer" },
    ],
    definitions: {
      server: objectSchema(entryKeys),
      namedServer: { allOf: [{ $ref: "#/definitions/server" }, { required: ["name"] }] },
    },
  };
}

function objectSchema(table: KeyTable): JsonSchema {
  const properties: [string, JsonSchema][] = [];
  for (const [written, name] of spellingsOf(table)) {
    const spec = table[name];
    if (spec === undefined) continue;
    const description = written === name ? spec.description : `The same as \`${name}\`.`;
    const fallback = spec.default === undefined ? {} : { default: spec.default };
    properties.push([written, { description, ...shapeSchema(spec.shape), ...fallback }]);
  }
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}

function shapeSchema(shape: ValueShape): JsonSchema {
  switch (shape.type) {
    case "text":
      return {
        type: "string",
        minLength: 1,
        ...(shape.maxLength === undefined ? {} : { maxLength: shape.maxLength }),
        ...(shape.pattern === undefined ? {} : { pattern: shape.pattern }),
      };
    case "flag":
      return { type: "boolean" };
    case "number":
      return {
        type: shape.isInteger === true ? "integer" : "number",
        minimum: shape.minimum,
        ...(shape.maximum === undefined ? {} : { maximum: shape.maximum }),
      };
    case "choice":
      return { enum: [...shape.values, ...(shape.spellings ?? [])] };
    case "list":
      return { type: "array", items: { type: "string" } };
    case "map":
      return {
        type: "object",
        propertyNames: { pattern: shape.namePattern },
        additionalProperties: {
          type: "string",
          ...(shape.valuePattern === undefined ? {} : { pattern: shape.valuePattern }),
        },
      };
    case "object":
      return objectSchema(shape.keys);
    case "objects":
      return { type: "array", items: objectSchema(shape.keys) };
    case "either":
      return { anyOf: shape.shapes.map((option) => shapeSchema(option)) };
  }
}
