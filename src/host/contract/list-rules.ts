import { inspectSchema } from "../../schema/guard/schema-guard.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import {
  type ContractRun,
  counted,
  describeAnswer,
  fail,
  type Judged,
  pass,
  skip,
  warn,
} from "./contract-run.ts";
import type { RuleId } from "./rule-texts.ts";

/** A tool as it stands in the answer of the server, unchecked. */
export type RawTool = JsonObject;

/** What a list came to: the tools of its pages, and whether the list as a whole keeps to its rule. */
export interface ListedTools {
  readonly judged: Judged;
  readonly tools: readonly RawTool[];
}

/** Follows the cursors of a list to its end. */
export async function listTools(run: ContractRun): Promise<ListedTools> {
  const { capabilities } = await run.client();
  if (capabilities["tools"] === undefined)
    return { judged: skip("it declares no tools"), tools: [] };
  const tools: RawTool[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    const answer = await run.ask("tools/list", cursor === undefined ? {} : { cursor });
    if (!("result" in answer))
      return { judged: fail(`page ${page}: ${describeAnswer(answer)}`), tools };
    const { tools: listed, nextCursor } = answer.result;
    if (!Array.isArray(listed)) return { judged: fail(`page ${page} has no list "tools"`), tools };
    const broken = listed.findIndex((tool) => !isJsonObject(tool));
    if (broken !== -1)
      return { judged: fail(`entry ${broken + 1} of page ${page} is no object`), tools };
    tools.push(...(listed as RawTool[]));
    if (nextCursor === undefined || nextCursor === null)
      return {
        judged: pass(`${counted(tools.length, "tool")} on ${counted(page, "page")}`),
        tools,
      };
    if (typeof nextCursor !== "string")
      return { judged: fail(`the cursor of page ${page} is no string`), tools };
    if (cursors.has(nextCursor) || page >= run.parts.limits.maxPages)
      return {
        judged: fail(`page ${page} leads back to an earlier page, or there is no end`),
        tools,
      };
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
}

/** Judges the definitions of the tools. */
export function judgeDefinitions(
  tools: readonly RawTool[],
): readonly (readonly [RuleId, Judged])[] {
  if (tools.length === 0) {
    const none = skip("it lists no tools");
    return [
      ["tool-names", none],
      ["tool-descriptions", none],
      ["input-schemas", none],
      ["output-schemas", none],
    ];
  }
  return [
    ["tool-names", judgeNames(tools)],
    ["tool-descriptions", judgeDescriptions(tools)],
    ["input-schemas", judgeSchemas(tools, "inputSchema")],
    ["output-schemas", judgeSchemas(tools, "outputSchema")],
  ];
}

function judgeNames(tools: readonly RawTool[]): Judged {
  const seen = new Set<unknown>();
  for (const { name } of tools) {
    if (typeof name !== "string" || name === "") return fail(`a tool has no name`);
    if (seen.has(name)) return fail(`two tools are named ${JSON.stringify(name)}`);
    seen.add(name);
  }
  const odd = tools.find(({ name }) => !/^[\w.-]{1,128}$/.test(String(name)));
  // The protocol recommends these characters; models are not offered others.
  return odd === undefined
    ? pass(counted(tools.length, "name"))
    : warn(JSON.stringify(odd["name"]));
}

function judgeDescriptions(tools: readonly RawTool[]): Judged {
  const silent = tools.filter(({ description }) => {
    return typeof description !== "string" || description.trim() === "";
  });
  const [first] = silent;
  if (first === undefined) return pass(counted(tools.length, "description"));
  // A description is optional, but a model chooses by it.
  return warn(`${silent.length} without: ${String(first["name"])}`);
}

function judgeSchemas(tools: readonly RawTool[], key: "inputSchema" | "outputSchema"): Judged {
  let count = 0;
  for (const tool of tools) {
    const schema = tool[key];
    if (key === "outputSchema" && schema === undefined) continue;
    count += 1;
    const flaw = flawOf(schema);
    if (flaw !== undefined) return fail(`${String(tool["name"])}: ${flaw}`);
  }
  return count === 0 ? skip("no tool has one") : pass(counted(count, "schema"));
}

function flawOf(schema: unknown): string | undefined {
  if (schema === undefined) return "it has none";
  if (!isJsonObject(schema)) return "it is no object";
  if (schema["type"] !== "object")
    return `its "type" is ${JSON.stringify(schema["type"] ?? null)}, not "object"`;
  const report = inspectSchema(schema);
  if (report.kind === "refused") return report.reason;
  const malformed = report.unvalidated.find((note) => !leftToServer.test(note));
  return malformed === undefined ? undefined : `its ${malformed} is malformed`;
}

/** Keywords that may be well-formed and still not be checked here: patterns that take too long, and what hangs on them. */
const leftToServer = /^(?:pattern|patternProperties|additionalProperties) at /;
