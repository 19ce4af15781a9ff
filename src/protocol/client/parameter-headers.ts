import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import type { ListedTool } from "../protocol-client.ts";
import { encodeHeaderValue } from "../wire/header-value.ts";
import { rpcCodeOf } from "../wire/json-rpc.ts";
import { type HeaderDeclaration, readHeaderDeclarations } from "./header-declarations.ts";

export type Headers = Readonly<Record<string, string>>;

const prefix = "Mcp-Param-";
const headerMismatch = -32_020;

/**
 * Repeats arguments of tools in headers, as the last list of tools declared it. Every
 * header begins with `Mcp-Param-`, whatever a server declares.
 */
export class ParameterHeaders {
  /** The first of two tools with the same name counts. */
  #schemas = new Map<string, unknown>();
  /** Filled when a tool is first called. */
  #declared = new Map<string, readonly HeaderDeclaration[]>();

  /** What is wrong with the headers a listed tool declares; undefined when nothing is. */
  problemOf({ inputSchema }: JsonObject): string | undefined {
    const declarations = readHeaderDeclarations(inputSchema);
    return "problem" in declarations ? declarations.problem : undefined;
  }

  /** Takes the declarations of a new list of tools in place of the old ones. */
  learn(tools: readonly ListedTool[]): void {
    this.#declared.clear();
    this.#schemas = new Map(tools.toReversed().map(({ name, inputSchema }) => [name, inputSchema]));
  }

  /** Undefined when there is nothing to repeat, be it because the list has not been fetched. */
  of(toolName: string, args: JsonObject): Headers | undefined {
    const headers: [string, string][] = [];
    for (const { path, name } of this.#declarationsOf(toolName)) {
      const text = headerText(valueAt(args, path));
      if (text !== undefined) headers.push([`${prefix}${name}`, encodeHeaderValue(text)]);
    }
    return headers.length === 0 ? undefined : Object.fromEntries(headers);
  }

  #declarationsOf(toolName: string): readonly HeaderDeclaration[] {
    const known = this.#declared.get(toolName);
    if (known !== undefined) return known;
    const found = readHeaderDeclarations(this.#schemas.get(toolName));
    const declarations = "problem" in found ? [] : found;
    if (this.#schemas.has(toolName)) this.#declared.set(toolName, declarations);
    return declarations;
  }
}

/** The server refused a call unread because it expected other headers. */
export function isHeaderMismatch(error: unknown): boolean {
  return rpcCodeOf(error) === headerMismatch;
}

export function areSameHeaders(a: Headers = {}, b: Headers = {}): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function valueAt(args: JsonObject, path: readonly string[]): unknown {
  let value: unknown = args;
  for (const key of path)
    value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** Numbers that JSON cannot carry exactly are left out: the server compares the header with the body. */
function headerText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  return Number.isSafeInteger(value) ? String(value) : undefined;
}
