type Schema = Readonly<Record<string, unknown>>;

/**
 * A value that a simple schema accepts: what it names itself (constant, default, first choice), else
 * something of its type with the properties it requires. Knows no `$ref` and no combinators.
 */
function sampleValue(schema: unknown): unknown {
  if (!isSchema(schema)) return "sample";
  if ("const" in schema) return schema["const"];
  if ("default" in schema) return schema["default"];
  if (Array.isArray(schema["enum"])) return schema["enum"][0] as unknown;
  switch (typeOf(schema)) {
    case "number":
    case "integer":
      return schema["minimum"] ?? 1;
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return Array.from({ length: Number(schema["minItems"] ?? 0) }, () =>
        sampleValue(schema["items"]),
      );
    case "object":
      return sampleObject(schema);
    default:
      return "sample".padEnd(Number(schema["minLength"] ?? 0), "-");
  }
}

/** The arguments of a call: every property the schema of the tool requires. */
export function sampleObject({ properties, required }: Schema): Record<string, unknown> {
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  const schemas = isSchema(properties) ? properties : {};
  return Object.fromEntries(names.map((name) => [name, sampleValue(schemas[String(name)])]));
}

function typeOf({ type, properties }: Schema): unknown {
  if (Array.isArray(type)) return type[0];
  return type ?? (properties === undefined ? "string" : "object");
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
