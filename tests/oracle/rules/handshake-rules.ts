import { isJsonObject, type JsonObject } from "../../../src/protocol/json-object.ts";
import { serverText } from "../../../src/protocol/server-text.ts";
import type { Pair } from "../compare.ts";
import type { Rule } from "../rule.ts";
import { firstAnswers } from "../said.ts";
import { kindOf } from "./answer-rules.ts";

/** What the server said about itself, in either handshake. */
function helloOf(pair: Pair): JsonObject | undefined {
  const results = firstAnswers(pair).map(({ message }) => message["result"]);
  return results.find((result) => isJsonObject(result));
}

function isSpecifiedHello(hello: JsonObject): boolean {
  const { capabilities, instructions = "", supportedVersions, protocolVersion, serverInfo } = hello;
  if (!isJsonObject(capabilities) || typeof instructions !== "string") return false;
  if (!Object.values(capabilities).every((value) => isJsonObject(value))) return false;
  if (protocolVersion === undefined)
    return Array.isArray(supportedVersions) && supportedVersions.every(isText);
  return isText(protocolVersion) && isJsonObject(serverInfo) && isNamed(serverInfo);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isNamed({ name, version }: JsonObject): boolean {
  return isText(name) && isText(version);
}

/** Both handshakes, whatever they end in. */
const handshakeAspects = /^(outcome|sent|failure\.)/;

export const handshakeRules: readonly Rule[] = [
  {
    id: "identity-is-cleaned",
    difference:
      'What a server calls itself comes out of the core on one line, without control characters and credentials, cut to a length, and as "unknown" where it says nothing; the SDK passes it on as it came, or nothing.',
    reason:
      "The name stands in lists, logs and questions to the user. It decides nothing, so nothing is lost.",
    right: "either",
    explains: ({ aspect, core, sdk }) => aspect === "value.serverInfo" && isCleaned(core, sdk),
  },
  {
    id: "a-sparse-handshake-is-enough",
    difference:
      "A handshake with a version both speak is enough for the core, whatever else in it is missing or odd (capabilities, identity, instructions): what is not declared is not there; the SDK refuses it, or takes the server for one of the other era.",
    reason:
      "Without capabilities nothing is called, so nothing can go wrong, and the user sees a connected server that offers nothing instead of a schema error.",
    right: "either",
    explains: ({ pair, aspect }) => {
      const hello = helloOf(pair);
      return (
        pair.place === "connect" &&
        handshakeAspects.test(aspect) &&
        pair.core.outcome.ok &&
        !pair.sdk.outcome.ok &&
        hello !== undefined &&
        !isSpecifiedHello(hello)
      );
    },
  },
  {
    id: "2024-10-07-is-not-spoken",
    difference: "The SDK accepts the preview revision 2024-10-07; the core refuses it.",
    reason: "It was never released, and no server is known that speaks nothing later.",
    right: "either",
    explains: ({ pair, aspect }) =>
      pair.place === "connect" &&
      handshakeAspects.test(aspect) &&
      kindOf(pair.core.outcome) === "invalid" &&
      helloOf(pair)?.["protocolVersion"] === "2024-10-07",
  },
  {
    id: "discovery-must-be-complete",
    difference:
      "A `server/discover` result whose `resultType` is not `complete` is no evidence of a modern server for the core; the SDK does not look at it.",
    reason: "A result of another type is not the answer; the specification has clients refuse it.",
    right: "core",
    explains: ({ pair, aspect }) => {
      const { resultType = "complete" } = helloOf(pair) ?? {};
      return (
        pair.place === "connect" &&
        handshakeAspects.test(aspect) &&
        !pair.core.outcome.ok &&
        resultType !== "complete"
      );
    },
  },
  {
    id: "no-common-version",
    difference:
      "A modern server without a common version is refused by the core as a violation; the SDK makes up the JSON-RPC error -32022 that the server did not send.",
    reason: "Only what a server said should look as if a server had said it.",
    right: "either",
    explains: ({ pair, aspect }) => {
      const { outcome } = pair.sdk;
      return (
        pair.place === "connect" &&
        aspect === "outcome" &&
        kindOf(pair.core.outcome) === "invalid" &&
        !outcome.ok &&
        outcome.failure.kind === "rpc" &&
        outcome.failure.code === -32_022
      );
    },
  },
];

function isCleaned(core: unknown, sdk: unknown): boolean {
  if (!isJsonObject(core)) return false;
  const said: JsonObject = isJsonObject(sdk) ? sdk : {};
  return Object.entries(core).every(([member, value]) => {
    const text = said[member];
    return value === (typeof text === "string" ? serverText(text, 128) : "unknown");
  });
}
