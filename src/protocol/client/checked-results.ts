import { TimeSlice } from "../../async/time-slice.ts";
import { defaultLimits, type Limits } from "../../config/keys/limits.ts";
import { isOversized } from "../../schema/guard/schema-guard.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { truncate } from "../../text/truncate.ts";
import { serverText } from "../../text/untrusted/bounded-text.ts";
import { type Exchange, invalidResult } from "../channel/channel-failures.ts";
import type { ContentBlock, ListedTool, RawToolResult, ToolListing } from "../protocol-client.ts";

const maxToolNameLength = 128;
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const controlCharacter = /[\u0000-\u001F\u007F-\u009F]/;

/** Throws `invalid_result` unless `result` has the shape every tool result must have; keeps `raw` beside it. */
export function checkToolResult(
  result: JsonObject,
  toolName: string,
  exchange: Exchange,
  raw?: string,
): RawToolResult {
  const { content, structuredContent, isError, _meta } = result;
  const problem = contentProblem(content, structuredContent) ?? flagProblem(isError);
  if (problem !== undefined)
    throw invalidResult(problem, exchange, { toolName: truncate(toolName, maxToolNameLength) });
  const checked: { -readonly [K in keyof RawToolResult]: RawToolResult[K] } = {
    content: (content as readonly ContentBlock[] | undefined) ?? [],
    isError: isError === true,
  };
  if (structuredContent !== undefined) checked.structuredContent = structuredContent;
  if (isJsonObject(_meta)) checked._meta = _meta;
  if (raw !== undefined) checked.raw = raw;
  return checked;
}

/** Null stands for absent. Anything else might mean an error, which must never look like a success. */
function flagProblem(isError: unknown): string | undefined {
  return typeof isError === "boolean" || (isError ?? null) === null
    ? undefined
    : "its error flag is not a boolean";
}

function contentProblem(content: unknown, structuredContent: unknown): string | undefined {
  if (content === undefined)
    return structuredContent === undefined
      ? "it has neither content nor structured content"
      : undefined;
  if (!Array.isArray(content)) return "its content is not a list";
  const wrong = content.findIndex((block) => !isContentBlock(block));
  return wrong === -1 ? undefined : `content block ${wrong} is not an object with a type`;
}

function isContentBlock(block: unknown): block is ContentBlock {
  return isJsonObject(block) && typeof block["type"] === "string";
}

export interface ToolPage {
  readonly items: readonly ListedTool[];
  readonly rejected: ToolListing["rejected"];
}

export interface ToolPageOptions {
  /** The reason why a well-formed tool cannot be used all the same; undefined when it can. */
  readonly problemOf?: ((tool: JsonObject) => string | undefined) | undefined;
  /** How many entries of the page are read; the others are ignored. */
  readonly maxEntries?: number;
  readonly limits?: Limits;
}

const manyTools = 500;

/**
 * One page of `tools/list`: an entry that is no tool is reported and never costs the others. A tool whose
 * definition is larger than a schema may be is listed by its name alone, with the reason; nothing else of it
 * is read. A long page does not hold up other work.
 */
export async function checkToolPage(
  result: JsonObject,
  exchange: Exchange,
  { problemOf, maxEntries, limits = defaultLimits }: ToolPageOptions = {},
): Promise<ToolPage> {
  const { tools } = result;
  if (!Array.isArray(tools)) throw invalidResult("its tools are not a list", exchange);
  const items: ListedTool[] = [];
  const rejected: { name: string | null; reason: string }[] = [];
  const slice = new TimeSlice();
  // The turn in which a long page was parsed has been long enough.
  if (tools.length > manyTools) await slice.next();
  for (const tool of tools.slice(0, maxEntries) as readonly unknown[]) {
    if (slice.isOver) await slice.next();
    const reason = toolProblem(tool);
    const refusal = reason === undefined ? sizeProblem(tool as JsonObject, limits) : undefined;
    const flaw = reason ?? (refusal === undefined ? problemOf?.(tool as JsonObject) : undefined);
    if (flaw !== undefined) rejected.push({ name: shownName(tool), reason: flaw });
    else if (refusal === undefined) items.push(readTool(tool as JsonObject));
    else items.push({ name: (tool as JsonObject)["name"] as string, refusal });
  }
  return { items, rejected };
}

/** Icons and `_meta` are not read by anybody here, and may hold pictures. */
function sizeProblem(tool: JsonObject, limits: Limits): string | undefined {
  const { title, description, inputSchema, outputSchema, annotations } = tool;
  const read = { title, description, inputSchema, outputSchema, annotations };
  if (!isOversized(read, limits)) return undefined;
  return `its definition is larger than ${limits.maxSchemaBytes} bytes`;
}

function toolProblem(tool: unknown): string | undefined {
  if (!isJsonObject(tool)) return "the entry is not an object";
  const { name, inputSchema, outputSchema } = tool;
  if (typeof name !== "string") return "its name is not a string";
  if (name === "") return "its name is empty";
  if (name.length > maxToolNameLength) return `its name has over ${maxToolNameLength} characters`;
  if (controlCharacter.test(name)) return "its name contains control characters";
  if (inputSchema !== undefined && !isJsonObject(inputSchema))
    return "its input schema is not an object";
  // Serializers that cannot leave a member out write null; only this one is optional in the protocol.
  if ((outputSchema ?? null) !== null && !isJsonObject(outputSchema))
    return "its output schema is not an object";
  return undefined;
}

/** Known members only; what has the wrong type and is merely descriptive is left out. */
function readTool(tool: JsonObject): ListedTool {
  const { name, title, description, inputSchema, outputSchema, annotations, icons, _meta } = tool;
  return {
    name: name as string,
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(isJsonObject(outputSchema) ? { outputSchema } : {}),
    ...(isJsonObject(annotations) ? { annotations } : {}),
    ...(icons === undefined ? {} : { icons }),
    ...(isJsonObject(_meta) ? { _meta } : {}),
  };
}

function shownName(tool: unknown): string | null {
  const name = isJsonObject(tool) ? tool["name"] : undefined;
  return typeof name === "string" ? serverText(name, maxToolNameLength) : null;
}
