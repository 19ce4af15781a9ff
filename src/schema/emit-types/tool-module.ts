import { emitParamsType, emitType } from "./emit-type.ts";
import {
  commentText,
  descriptionText,
  docComment,
  fieldName,
  indent,
  stringLiteral,
} from "./source-text.ts";
import { serverFunctionName, serverTypeName, toolTypeNames, TypeNames } from "./type-names.ts";
import { anyObjectType, declaration, unknownType, widened } from "./type-text.ts";

/** A tool as the module describes it. */
export interface DescribedTool {
  /** Its own name on the server. */
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
}

/** A module beyond this length declares its remaining tools without their fields. */
const maxLength = 8_000_000;
/** Names that the module imports. */
const importedNames = ["createToolClient", "Session", "ToolClient"] as const;
const maxShownName = 100;
const maxLineLength = 100;

/** Writes the tools of a server as a TypeScript module, piece by piece, so that a long list need not hold up the thread. */
export class ToolModule {
  readonly #serverName: string;
  readonly #tools: ReadonlyMap<string, DescribedTool>;
  readonly #prefixes: ReadonlyMap<string, string>;
  readonly #names: TypeNames;
  readonly #toolsName: string;
  readonly #clientName: string;
  readonly #functionName: string;

  /** The first of several tools with the same name counts. */
  constructor(serverName: string, tools: readonly DescribedTool[]) {
    this.#serverName = serverName;
    this.#tools = firstOfEach(tools);
    this.#prefixes = toolTypeNames(serverName, [...this.#tools.keys()]);
    const perTool = [...this.#prefixes.values()].flatMap((prefix) => typesOf(prefix));
    this.#names = new TypeNames([...perTool, ...importedNames]);
    this.#toolsName = this.#names.take(`${serverTypeName(serverName)}Tools`);
    this.#clientName = this.#names.take(`${serverTypeName(serverName)}Client`);
    this.#functionName = this.#names.take(serverFunctionName(serverName));
  }

  /** The text of the module, at most one tool at a time. */
  *pieces(): Generator<string> {
    const shown = commentText(this.#serverName, maxShownName);
    yield (
      `// The tools of the server "${shown}", for use with Plugboard. Generated: do not edit.\n` +
        'import { createToolClient, type Session, type ToolClient } from "plugboard";\n'
    );
    let length = 0;
    for (const tool of this.#tools.values()) {
      const piece = length > maxLength ? this.#withoutFields(tool) : this.#types(tool);
      length += piece.length;
      yield piece;
    }
    yield this.#map();
    yield this.#client();
  }

  #types(tool: DescribedTool): string {
    const prefix = this.#prefixOf(tool);
    const [paramsName, resultName] = typesOf(prefix);
    const names = this.#names;
    const documentation = descriptionText(tool.description);
    const params = { name: paramsName, prefix, names, documentation };
    const result = { name: resultName, prefix, names };
    return (
      `\n${emitParamsType(tool.inputSchema, params)}` +
      `\n${tool.outputSchema === undefined ? declaration(resultName, unknownType) : emitType(tool.outputSchema, result)}`
    );
  }

  #withoutFields(tool: DescribedTool): string {
    const [paramsName, resultName] = typesOf(this.#prefixOf(tool));
    const reason = ["there are too many tools"];
    return (
      `\n${declaration(paramsName, widened(anyObjectType, reason))}` +
      `\n${declaration(resultName, widened(unknownType, reason))}`
    );
  }

  #map(): string {
    const entries = [...this.#tools.values()].map((tool) => {
      const [params, result] = typesOf(this.#prefixOf(tool));
      const comment = docComment([descriptionText(tool.description)]);
      const types = `{\n  readonly params: ${params};\n  readonly result: ${result};\n}`;
      return `  ${indent(`${comment}readonly ${fieldName(tool.name)}: ${types};`)}\n`;
    });
    return `\n/** Each tool by its own name on the server. */\nexport interface ${this.#toolsName} {\n${entries.join("")}}\n`;
  }

  #client(): string {
    const [tools, client] = [this.#toolsName, this.#clientName];
    const names = [...this.#tools.keys()].map((name) => stringLiteral(name));
    const call = (list: string): string =>
      `  return createToolClient<${tools}>(session, ${stringLiteral(this.#serverName)}, [${list}]);\n`;
    const line = call(names.join(", "));
    const lines = call(`\n${names.map((name) => `    ${name},\n`).join("")}  `);
    return (
      `\nexport type ${client} = ToolClient<${tools}>;\n` +
      "\n/** The tools as methods; calls take the same guarded path as `session.call`. */\n" +
      `export function ${this.#functionName}(session: Session): ${client} {\n` +
      `${line.length <= maxLineLength ? line : lines}}\n`
    );
  }

  #prefixOf({ name }: DescribedTool): string {
    return this.#prefixes.get(name) ?? serverTypeName(this.#serverName);
  }
}

function typesOf(prefix: string): readonly [params: string, result: string] {
  return [`${prefix}Params`, `${prefix}Result`];
}

function firstOfEach(tools: readonly DescribedTool[]): ReadonlyMap<string, DescribedTool> {
  const first = new Map<string, DescribedTool>();
  for (const tool of tools) if (!first.has(tool.name)) first.set(tool.name, tool);
  return first;
}
