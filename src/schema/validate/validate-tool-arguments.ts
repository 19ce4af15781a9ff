import { checkArguments, object } from "../../errors/check-arguments.ts";
import { isJsonObject } from "../../text/json-object.ts";
import {
  invalid,
  Trace,
  unusableSchema,
  type ValidationProblem,
  type Verdict,
} from "../compile/validation-failure.ts";
import { checkPlainJson } from "./plain-json.ts";
import { ValidatorCache } from "./validator-cache.ts";

export interface ToolArgumentsOptions {
  /**
   * The validators to use, such as the host's with its worker and limits; by default a shared cache
   * without a worker.
   */
  readonly validators?: ValidatorCache | undefined;
  /**
   * The arguments that a tool takes if its schema is missing or empty (`{}`, `{ "$schema": … }`). `any`
   * (default): every object, as JSON Schema has it; published servers list such tools and want arguments.
   * `none`: no arguments.
   */
  readonly withoutSchema?: "none" | "any" | undefined;
}

let shared: ValidatorCache | undefined;

/**
 * Checks `args` against the input schema of a tool; undefined means that they may be sent as they are.
 * Nothing is added (the server fills in defaults), dropped or converted. Extra properties pass where the
 * schema is open and are refused where it is closed. A promise is returned only when the check cannot
 * be done at once.
 */
export function validateToolArguments(
  schema: unknown,
  args: unknown,
  options: ToolArgumentsOptions = {},
): Verdict | Promise<Verdict> {
  // Every call runs this, so nothing is allocated for valid options.
  if (!object.accepts(options))
    checkArguments("validateToolArguments", { options: object }, [options]);
  if (!isJsonObject(args)) return notAnObject;
  const verdict = checkPlainJson(args);
  if (verdict !== undefined) return verdict;
  if (schema === undefined || isEmptySchema(schema))
    return options.withoutSchema === "none" ? checkNoArguments(args) : undefined;
  if (!isJsonObject(schema)) return unusableSchema("it is not an object");
  const validators = options.validators ?? (shared ??= new ValidatorCache());
  return validators.forSchema(schema).validate(args);
}

const notAnObject = invalid([
  { path: "", keyword: "type", message: "the arguments must be an object", expected: "object" },
]);

/** Whether the schema has only annotations. `{ "type": "object" }` is not empty: it accepts any object. */
function isEmptySchema(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  for (const keyword in schema) if (!annotations.has(keyword)) return false;
  return true;
}

const annotations: ReadonlySet<string> = new Set(["$schema", "$comment", "title", "description"]);

function checkNoArguments(args: Readonly<Record<string, unknown>>): Verdict {
  const problems: ValidationProblem[] = [];
  const trace = Trace.into(problems);
  for (const key of Object.keys(args))
    if (args[key] !== undefined)
      trace.at(key).report("additionalProperties", "is not expected: the tool takes no arguments");
  return problems.length === 0 ? undefined : invalid(problems);
}
