import type { McpPrompt, McpResource, McpResourceTemplate } from "../../catalog/server-content.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import { type Column, columnWidths, renderRow } from "../terminal/table.ts";

const maxDescription = 60;
const columns: readonly Column[] = [{ title: "" }, { title: "" }, { title: "" }];

export interface ListedResources {
  readonly name: string;
  readonly resources: readonly McpResource[];
  readonly templates: readonly McpResourceTemplate[];
}

/** The resources of one server for people, with the templates behind them. Addresses are never cut: they are typed again. */
export function renderResources({
  name,
  resources,
  templates,
}: ListedResources): readonly string[] {
  const parts = [
    counted(resources.length, "resource"),
    ...(templates.length === 0 ? [] : [counted(templates.length, "template")]),
  ];
  return [
    `${neutralizeLine(name)} · ${parts.join(", ")}`,
    ...table([
      ...resources.map((one) => [one.uri, one.mimeType ?? "", summaryOf(one)]),
      ...templates.map((one) => [one.uriTemplate, one.mimeType ?? "", summaryOf(one)]),
    ]),
  ];
}

export interface ListedPrompts {
  readonly name: string;
  readonly prompts: readonly McpPrompt[];
}

/** The prompts of one server for people: `greeting(name)`, arguments that may be left out with a question mark. */
export function renderPrompts({ name, prompts }: ListedPrompts): readonly string[] {
  return [
    `${neutralizeLine(name)} · ${counted(prompts.length, "prompt")}`,
    ...table(prompts.map((prompt) => [signatureOf(prompt), "", summaryOf(prompt)])),
  ];
}

function signatureOf({ name, arguments: wanted }: McpPrompt): string {
  const names = wanted.map((argument) => `${argument.name}${argument.isRequired ? "" : "?"}`);
  return `${name}(${names.join(", ")})`;
}

function summaryOf({
  description,
  title,
  name,
}: Pick<McpResource, "description" | "title" | "name">): string {
  return boundedLine(description || title || name, maxDescription);
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const used = columns.filter((_, index) => rows.some((row) => row[index] !== ""));
  const cells = rows.map((row) => row.filter((_, index) => rows.some((it) => it[index] !== "")));
  const widths = columnWidths(used, cells);
  return cells.map((row) => `  ${renderRow(used, row, widths)}`);
}

export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** Something a server listed, in `--json` output: without the name of its server, which stands above it. */
export function listedObject({
  serverName: _server,
  ...listed
}: McpResource | McpResourceTemplate | McpPrompt): Readonly<Record<string, unknown>> {
  return listed;
}
