import { describeSchema } from "../../schema/guard/describe-schema.ts";
import { formatSignature } from "../../schema/usage-line.ts";
import type { McpTool } from "../../session/mcp-tool.ts";
import { truncate } from "../../text/truncate.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import { neutralize, neutralizeLine } from "../../text/untrusted/neutralize.ts";
import { type Column, columnWidths, renderRow } from "../terminal/table.ts";

const maxDescription = 60;
const maxSignature = 60;
const charactersPerToken = 4;
const columns: readonly Column[] = [{ title: "" }, { title: "" }, { title: "" }];

/** `1 tool`, `8 tools` */
export function countTools(count: number): string {
  return `${count} ${count === 1 ? "tool" : "tools"}`;
}

/** Roughly what the definitions cost a model to read, whatever its tokenizer. */
export function estimateTokens(tools: readonly McpTool[]): number {
  const length = tools.reduce(
    (sum, { name, description, inputSchema }) =>
      sum + JSON.stringify({ name, description, inputSchema }).length,
    0,
  );
  return Math.ceil(length / charactersPerToken);
}

/** The tools of one server for people: signature, the server's claim about it, one line of description. */
export function renderTools(
  serverName: string,
  tools: readonly McpTool[],
  withSchema: boolean,
): readonly string[] {
  const rows = tools.map((tool) => [signatureOf(tool), claimOf(tool), summaryOf(tool)]);
  const widths = columnWidths(columns, rows);
  return [
    `${neutralizeLine(serverName)} · ${countTools(tools.length)} · ~${estimateTokens(tools)} tokens`,
    ...tools.flatMap((tool, index) => [
      `  ${renderRow(columns, rows[index] ?? [], widths)}`,
      ...(withSchema ? schemaLines(tool) : []),
    ]),
  ];
}

function signatureOf({ originalName, inputSchema, outputSchema }: McpTool): string {
  const result = outputSchema === undefined ? "" : ` → ${describeSchema(outputSchema)}`;
  return truncate(`${formatSignature(originalName, inputSchema)}${result}`, maxSignature);
}

/** Claims are the server's own; nothing here was checked. */
function claimOf({ annotations }: McpTool): string {
  if (annotations["readOnlyHint"] === true) return "read-only";
  return annotations["destructiveHint"] === true ? "destructive" : "";
}

function summaryOf({ description, title, unusable }: McpTool): string {
  if (unusable !== undefined) return `cannot be used: ${unusable}`;
  return boundedLine(description || title || "", maxDescription);
}

function schemaLines({ description, inputSchema, outputSchema }: McpTool): readonly string[] {
  const parts = [
    description,
    indentedJson(inputSchema),
    ...(outputSchema === undefined ? [] : [`result: ${indentedJson(outputSchema)}`]),
  ];
  return parts
    .filter((part) => part !== "")
    .flatMap((part) => neutralize(part).split("\n"))
    .map((line) => `      ${line}`);
}

function indentedJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

/** A tool in `--json` output: everything the server said about it. */
export function toolObject(tool: McpTool): Readonly<Record<string, unknown>> {
  const { originalName, name, title, description, inputSchema, outputSchema } = tool;
  return {
    name: originalName,
    publicName: name,
    ...(title === undefined ? {} : { title }),
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: tool.annotations,
    needsConsent: tool.needsConsent,
    ...(tool.unusable === undefined ? {} : { unusable: tool.unusable }),
  };
}
