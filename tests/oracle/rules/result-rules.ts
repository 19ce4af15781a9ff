import { isJsonObject, type JsonObject } from "../../../src/text/json-object.ts";
import type { Difference, Pair } from "../compare.ts";
import { kindOf } from "../observation.ts";
import type { Rule } from "../rule.ts";
import { messagesOf, resultsSeenBy, wasSaid } from "../said.ts";

/** The core takes what the SDK refuses. */
function isTakenByCoreOnly({ pair, aspect }: Difference, action: string): boolean {
  return (
    pair.operation?.do === action &&
    aspect === "outcome" &&
    kindOf(pair.core.outcome) === "ok" &&
    kindOf(pair.sdk.outcome) === "invalid"
  );
}

function toolResultOf({ pair }: Difference): JsonObject | undefined {
  return resultsSeenBy("sdk", pair)[0];
}

/** `sdk` is `core` with some members of some objects left out. */
function isTrimmed(sdk: unknown, core: unknown): boolean {
  if (Array.isArray(sdk) && Array.isArray(core))
    return sdk.length === core.length && sdk.every((item, index) => isTrimmed(item, core[index]));
  if (isJsonObject(sdk) && isJsonObject(core))
    return Object.keys(sdk).every(
      (key) => Object.hasOwn(core, key) && isTrimmed(sdk[key], core[key]),
    );
  return JSON.stringify(sdk) === JSON.stringify(core);
}

const stringMembers: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  image: ["data", "mimeType"],
  audio: ["data", "mimeType"],
  resource_link: ["uri", "name"],
};

/** A content block of one of the five kinds with the members the specification requires. */
function isSpecifiedBlock(block: unknown): boolean {
  if (!isJsonObject(block) || typeof block["type"] !== "string") return false;
  const { type, annotations = {}, data = "" } = block;
  if (!isJsonObject(annotations) || !isFraction(annotations["priority"])) return false;
  if (typeof data !== "string" || !/^[A-Za-z0-9+/]*=*$/.test(data)) return false;
  if (type === "resource") {
    const { resource } = block;
    return isJsonObject(resource) && ("text" in resource || "blob" in resource);
  }
  const required = Object.hasOwn(stringMembers, type) ? stringMembers[type] : undefined;
  return required !== undefined && required.every((name) => typeof block[name] === "string");
}

function isFraction(priority: unknown): boolean {
  return priority === undefined || (typeof priority === "number" && priority >= 0 && priority <= 1);
}

export const resultRules: readonly Rule[] = [
  {
    id: "every-block-is-kept",
    difference:
      "A content block of an unknown kind, or of a known one with a member missing or wrong, stays in the core's result as it came; the SDK refuses the whole result.",
    reason:
      "Results are lossless. A newer kind of block, or a sloppy one, must not cost the caller the text beside it; whoever shows a block decides what to do with it.",
    right: "either",
    explains: (difference) => {
      const content = toolResultOf(difference)?.["content"];
      return (
        isTakenByCoreOnly(difference, "callTool") &&
        Array.isArray(content) &&
        !content.every(isSpecifiedBlock)
      );
    },
  },
  {
    id: "a-result-without-a-type",
    difference:
      "A modern result without `resultType` is complete for the core; the SDK refuses it.",
    reason:
      "Servers must write it, but what was asked for has been done and said. A refusal would lose that and invite a second call. The official conformance suite has clients take such a result for a complete one.",
    right: "core",
    explains: (difference) => {
      const { pair, aspect } = difference;
      return (
        pair.transcript.era === "modern" &&
        aspect === "outcome" &&
        kindOf(pair.sdk.outcome) === "invalid" &&
        resultsSeenBy("sdk", pair).some(({ resultType }) => resultType === undefined)
      );
    },
  },
  {
    id: "structured-content-alone",
    difference:
      "A modern result with structured content and no `content` is complete for the core, with an empty list; the SDK refuses it.",
    reason:
      "`content` is required, but servers leave it out when there is structured content, and nothing is missing then.",
    right: "either",
    explains: (difference) => {
      const result = toolResultOf(difference);
      return (
        isTakenByCoreOnly(difference, "callTool") &&
        difference.pair.transcript.era === "modern" &&
        result?.["content"] === undefined &&
        result?.["structuredContent"] !== undefined
      );
    },
  },
  {
    id: "a-result-must-say-something",
    difference:
      "A result of the 2025 era with neither `content` nor structured content is refused by the core; the SDK takes it for an empty one.",
    reason:
      "`content` is required. A result that says nothing is more likely the answer to something else than an empty success.",
    right: "core",
    explains: (difference) => {
      const { pair, aspect } = difference;
      const { content, structuredContent } = toolResultOf(difference) ?? {};
      return (
        pair.operation?.do === "callTool" &&
        pair.transcript.era === "legacy" &&
        aspect === "outcome" &&
        kindOf(pair.core.outcome) === "invalid" &&
        pair.sdk.outcome.ok &&
        content === undefined &&
        structuredContent === undefined
      );
    },
  },
  {
    id: "null-is-no-error-flag",
    difference: "`isError: null` means that it is absent in the core; the SDK refuses the result.",
    reason: "Serializers that cannot leave a member out write null.",
    right: "either",
    explains: (difference) =>
      isTakenByCoreOnly(difference, "callTool") && toolResultOf(difference)?.["isError"] === null,
  },
  {
    id: "any-structured-content",
    difference:
      "In the 2025 era the core takes structured content of any JSON type; the SDK takes objects only.",
    reason:
      "2026-07-28 allows every type. What is wrong with a value is said by the tool's output schema, which is checked where tools are called.",
    right: "either",
    explains: (difference) => {
      const structured = toolResultOf(difference)?.["structuredContent"];
      return (
        difference.pair.transcript.era === "legacy" &&
        isTakenByCoreOnly(difference, "callTool") &&
        structured !== undefined &&
        !isJsonObject(structured)
      );
    },
  },
  {
    id: "unknown-members-survive",
    difference:
      "Members that no revision names, and members called `__proto__`, stay where they are in what the core returns; the SDK leaves them out.",
    reason:
      "Results are lossless: extensions are data for whoever knows them. JSON.parse makes `__proto__` an ordinary member, and the core never copies members in a way that would set a prototype.",
    right: "either",
    explains: ({ pair, aspect, core, sdk }) =>
      aspect.startsWith("value.") &&
      (sdk === undefined ? aspect === "value.__proto__" : isTrimmed(sdk, core)) &&
      (aspect === "value.tools"
        ? (core as readonly unknown[]).every((tool) => wasListed(pair, tool))
        : wasSaid(pair.transcript, core)),
  },
  {
    id: "output-schema-is-checked-at-the-call",
    difference:
      "The SDK checks structured content against the listed output schema within `callTool`; the core returns it as it came.",
    reason:
      "The same check happens one floor up, where a call has its policy and its deadline: bounded, with an engine that no pattern can stall, and with the content kept in the error.",
    right: "either",
    explains: ({ pair, aspect }) => {
      const { operation, core, sdk } = pair;
      return (
        operation?.do === "callTool" &&
        /^(outcome|value)/.test(aspect) &&
        core.outcome.ok &&
        kindOf(sdk.outcome) === "rpc" &&
        toolsIn(pair).some(({ name, outputSchema }) => name === operation.name && outputSchema)
      );
    },
  },
];

/** Every tool the server ever listed. */
function toolsIn({ transcript }: Pair): readonly JsonObject[] {
  return messagesOf(transcript).flatMap((message) => {
    const result = isJsonObject(message) ? message["result"] : undefined;
    const tools = isJsonObject(result) ? result["tools"] : undefined;
    return Array.isArray(tools) ? tools.filter((tool) => isJsonObject(tool)) : [];
  });
}

/** The tool is one of the server's, with nothing added to it. */
function wasListed(pair: Pair, tool: unknown): boolean {
  return toolsIn(pair).some((said) => isTrimmed(tool, said));
}
