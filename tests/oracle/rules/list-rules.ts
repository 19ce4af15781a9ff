import { isDeepStrictEqual } from "node:util";

import { isJsonObject, type JsonObject } from "../../../src/text/json-object.ts";
import type { Difference } from "../compare.ts";
import { kindOf } from "../observation.ts";
import type { Rule } from "../rule.ts";
import { resultsSeenBy } from "../said.ts";

/** The page at which the SDK gave up the list, when that is where the two part. */
function refusedPage({ pair, aspect }: Difference): JsonObject | undefined {
  const isRefused = kindOf(pair.sdk.outcome) === "invalid" && /^(outcome|sent)/.test(aspect);
  return pair.operation?.do === "listTools" && isRefused
    ? resultsSeenBy("sdk", pair).at(-1)
    : undefined;
}

function toolsOf(page: JsonObject | undefined): readonly unknown[] {
  return Array.isArray(page?.["tools"]) ? page["tools"] : [];
}

/** A tool as the specification's schema wants it, as far as that concerns its known members. */
function isSpecifiedTool(tool: unknown): boolean {
  if (!isJsonObject(tool)) return false;
  const { name, title = "", description = "", inputSchema, outputSchema = {}, icons = [] } = tool;
  const { annotations = {}, _meta = {} } = tool;
  return (
    [name, title, description].every((text) => typeof text === "string") &&
    isObjectSchema(inputSchema) &&
    isJsonObject(outputSchema) &&
    isJsonObject(annotations) &&
    Object.entries(annotations).every(
      ([hint, value]) => typeof value === (hint === "title" ? "string" : "boolean"),
    ) &&
    isJsonObject(_meta) &&
    Array.isArray(icons) &&
    icons.every((icon) => isJsonObject(icon) && typeof icon["src"] === "string")
  );
}

function isObjectSchema(schema: unknown): boolean {
  if (!isJsonObject(schema) || schema["type"] !== "object") return false;
  const { properties = {}, required = [] } = schema;
  return isJsonObject(properties) && Array.isArray(required);
}

export const listRules: readonly Rule[] = [
  {
    id: "a-bad-tool-costs-only-itself",
    difference:
      "A tool definition that breaks the schema is left out of the core's list with the reason, or listed without the broken part when it is merely descriptive; the SDK refuses the whole list.",
    reason:
      "One sloppy definition must not take every other tool of the server away. Schemas are judged tool by tool where they are used.",
    right: "either",
    explains: (difference) => {
      const page = refusedPage(difference);
      return toolsOf(page).some(
        (tool) => !isSpecifiedTool(tool) || hasOddOutput(tool, difference.pair.transcript.era),
      );
    },
  },
  {
    id: "unusable-names-are-rejected",
    difference:
      "A tool with an empty name, one of over 128 characters or one with control characters is left out of the core's list with the reason; the SDK lists it.",
    reason:
      "Names are shown, typed and logged, and become part of names that language models must repeat. 2025-11-25 recommends 1 to 128 characters of a small alphabet.",
    right: "core",
    explains: ({ aspect, core, sdk }) =>
      aspect === "value.tools" &&
      namesIn(sdk).length > namesIn(core).length &&
      isDeepStrictEqual(namesIn(sdk).filter(isUsableName), namesIn(core)),
  },
  {
    id: "cache-hints-are-hints",
    difference:
      "A page of the modern era without `ttlMs` and `cacheScope`, or with odd ones, is read by the core; the SDK refuses the list.",
    reason:
      "They say how long a list may be kept. Without them it is not kept at all, and the tools are the same.",
    right: "either",
    explains: (difference) => {
      const page = refusedPage(difference);
      if (page === undefined || difference.pair.transcript.era === "legacy") return false;
      const { ttlMs, cacheScope } = page;
      return (
        !(Number.isInteger(ttlMs) && (ttlMs as number) >= 0) ||
        !["public", "private"].includes(cacheScope as string)
      );
    },
  },
  {
    id: "an-odd-cursor-ends-the-list",
    difference:
      "A `nextCursor` that is no string ends the core's list: null like its absence, anything else with a note that the list is cut short; the SDK refuses the list.",
    reason:
      "The tools that did come are sound. Serializers that cannot leave a member out write null.",
    right: "either",
    explains: (difference) => {
      const cursor = refusedPage(difference)?.["nextCursor"];
      return cursor !== undefined && typeof cursor !== "string";
    },
  },
  {
    id: "a-capped-list-is-kept",
    difference:
      "A list of more than 64 pages ends there in the core, with a note that it is cut short; the SDK refuses the whole list.",
    reason: "The tools that did come are sound, and the note says that there are more.",
    right: "either",
    explains: ({ pair, aspect }) =>
      pair.operation?.do === "listTools" &&
      aspect === "outcome" &&
      pair.core.outcome.ok &&
      pair.core.sent.length === 64 &&
      kindOf(pair.sdk.outcome) === "invalid",
  },
  {
    id: "cursors-are-not-judged",
    difference:
      "The core follows a cursor even when page and cursor are the same as before, until the cap on pages; the SDK stops at the repetition.",
    reason:
      "A cursor is opaque, so the same one may mean something else the next time. The cap bounds what it can cost.",
    right: "either",
    explains: ({ pair, aspect }) =>
      pair.operation?.do === "listTools" &&
      /^(sent|value\.)/.test(aspect) &&
      pair.core.sent.length === 64 &&
      pair.sdk.sent.length < 64 &&
      isRepeated(resultsSeenBy("sdk", pair).slice(-2)),
  },
  {
    id: "lists-of-many-pages-are-not-kept",
    difference:
      "A list of several pages is fetched again each time by the core, whatever its `ttlMs`; the SDK keeps it as long as the first page says.",
    reason:
      "Each page has a time to live of its own, and pages of different ages make no list that the server ever had.",
    right: "either",
    explains: ({ pair, aspect }) =>
      pair.operation?.do === "listTools" &&
      /^(sent|value\.tools)/.test(aspect) &&
      pair.core.outcome.ok &&
      pair.sdk.outcome.ok &&
      pair.core.sent.length > 1 &&
      pair.sdk.sent.length === 0 &&
      resultsSeenBy("core", pair).some(({ ttlMs }) => Number(ttlMs) > 0),
  },
  {
    id: "a-closed-client-lists-nothing",
    difference:
      "`listTools` on a closed client fails in the core; the SDK, which has forgotten the server's capabilities by then, returns an empty list.",
    reason: "No tools and no connection are different news.",
    right: "core",
    explains: ({ pair, aspect }) =>
      pair.operation?.do === "listTools" &&
      aspect === "outcome" &&
      kindOf(pair.core.outcome) === "closed" &&
      pair.sdk.outcome.ok,
  },
];

function namesIn(tools: unknown): readonly string[] {
  return Array.isArray(tools) ? tools.map(({ name }: { name: string }) => name) : [];
}

function isUsableName(name: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  return name !== "" && name.length <= 128 && !/[\u0000-\u001F\u007F-\u009F]/.test(name);
}

function isRepeated([before, after]: readonly JsonObject[]): boolean {
  return after !== undefined && JSON.stringify(before) === JSON.stringify(after);
}

/** The 2025 era wants the root of an output schema to be an object, too. */
function hasOddOutput(tool: unknown, era: string): boolean {
  const schema = isJsonObject(tool) ? tool["outputSchema"] : undefined;
  return era === "legacy" && schema !== undefined && !isObjectSchema(schema);
}
