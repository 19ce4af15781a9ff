// `plugboard/tools`: names, schemas and results of tools, each by itself. Named exports only.

export { mcpResultToString, toRest, toSkillResult, toToolResult } from "../call/projections.ts";
export type { ToolResult, ToolResultValue } from "../call/projections.ts";
export {
  buildMcpSkillName,
  isMcpTool,
  makeToolName,
  parseToolName,
} from "../catalog/tool-names.ts";
export type { NamingOptions, ParsedToolName } from "../catalog/tool-names.ts";
export type { CatalogProblem } from "../catalog/catalog-problem.ts";
export { paramsTypeOf } from "../schema/emit-types/params-type.ts";
export type { ParamsField, ParamsType } from "../schema/emit-types/params-type.ts";
export type { StandardJsonSchema } from "../schema/validate/standard-schema.ts";
export { validateToolArguments } from "../schema/validate/validate-tool-arguments.ts";
