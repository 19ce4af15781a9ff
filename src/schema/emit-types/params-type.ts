import { checkArguments, object, optional, text } from "../../errors/check-arguments.ts";
import { paramsFields } from "./emit-type.ts";
import { toolTypeName, TypeNames } from "./type-names.ts";
import { render } from "./type-text.ts";

/** One argument of a tool. */
export interface ParamsField {
  /** As the server spells it. */
  readonly name: string;
  /** In TypeScript: `string`, `readonly string[]`, `"open" | "closed"`. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string | undefined;
}

/** The arguments of a tool as data: what the generated interface of that name says. */
export interface ParamsType {
  /** `GithubCreateIssueParams`, unless another tool of the server has the same words in its name. */
  readonly name: string;
  readonly fields: readonly ParamsField[];
}

/** A tool as a server lists it, or as a session does: there its own name is `originalName`. */
export interface ToolWithSchema {
  readonly name: string;
  readonly originalName?: string | undefined;
  readonly inputSchema?: unknown;
}

const shapes = {
  serverName: text,
  tool: { ...object, members: { name: text, originalName: optional(text) } },
} as const;

/** The arguments that a tool declares; none for a schema that cannot be used. */
export function paramsTypeOf(serverName: string, tool: ToolWithSchema): ParamsType {
  checkArguments("paramsTypeOf", shapes, [serverName, tool]);
  const prefix = toolTypeName(serverName, tool.originalName ?? tool.name);
  const name = `${prefix}Params`;
  // As in the module, where a reference to `params` is not to be taken for the arguments.
  const names = new TypeNames([name, `${prefix}Result`]);
  const fields = paramsFields(tool.inputSchema, { name, prefix, names });
  return Object.freeze({
    name,
    fields: Object.freeze(
      fields.map(({ name: field, type, isRequired, description }) =>
        Object.freeze({ name: field, type: render(type), isRequired, description }),
      ),
    ),
  });
}
