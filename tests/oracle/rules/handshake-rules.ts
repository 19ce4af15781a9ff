import { isJsonObject, type JsonObject } from "../../../src/text/json-object.ts";
import { serverText } from "../../../src/text/untrusted/bounded-text.ts";
import type { Pair } from "../compare.ts";
import { kindOf } from "../observation.ts";
import type { Rule } from "../rule.ts";
import { firstAnswers, messagesOf } from "../said.ts";

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
    id: "silence-is-hedged",
    difference:
      "A server that does not answer the probe is sent `initialize` on the same pipe after 1.5 s by the core; the SDK gives up after its whole timeout, unless the transport is its own stdio, where it starts the server twice.",
    reason:
      "Servers of the 2025 era may ignore what comes before `initialize`. A second process would have every side effect of a start, and a user would wait a minute.",
    right: "core",
    explains: ({ pair, aspect }) =>
      hasTurnedToInitialize(pair, aspect) && !("server/discover#1" in pair.transcript.reactions),
  },
  {
    id: "a-refusal-without-an-id",
    difference:
      "An error response without an id counts as the refusal of the probe in the core while nothing else is under way; the SDK drops it and waits for its whole timeout.",
    reason:
      "Servers that cannot make sense of a request answer with `id: null`, as JSON-RPC tells them to. It can only be about the one message they got.",
    right: "core",
    explains: ({ pair, aspect }) =>
      hasTurnedToInitialize(pair, aspect) &&
      answersToProbe(pair).length === 0 &&
      hasUnnamedError(pair),
  },
  {
    id: "initialize-is-always-tried",
    difference:
      "A probe that is refused with -32022, twice or in favour of later revisions only, is followed by `initialize` in the core; the SDK gives up.",
    reason:
      "A server of both eras may still speak 2025. Asking costs one round trip, and a refusal is then the better explanation.",
    right: "either",
    explains: ({ pair, aspect }) =>
      hasTurnedToInitialize(pair, aspect) &&
      answersToProbe(pair).some(({ error }) => isJsonObject(error) && error["code"] === -32_022),
  },
  {
    id: "a-status-refuses-the-probe",
    difference:
      "A probe that is answered with an HTTP status of the 400s is followed by `initialize` in the core; the SDK gives up on our transport.",
    reason:
      "The specification makes such a status the sign of a server of the 2025 era. The SDK reads statuses only from the errors of its own transport, where it does the same as the core.",
    right: "either",
    explains: ({ pair, aspect }) =>
      hasTurnedToInitialize(pair, aspect) &&
      pair.transcript.reactions["server/discover#1"]?.some(
        (emission) => "status" in emission && emission.status >= 400 && emission.status < 500,
      ) === true,
  },
  {
    id: "a-failing-probe-keeps-its-cause",
    difference:
      "A probe that fails in the transport (an outage, a sign-in page) fails the connection with the transport's own error in the core; the SDK wraps it into the failure of the negotiation.",
    reason: "Whether to sign in or to try again later depends on the cause.",
    right: "core",
    explains: ({ pair, aspect }) =>
      pair.place === "connect" &&
      aspect === "outcome" &&
      kindOf(pair.core.outcome) === "transport" &&
      kindOf(pair.sdk.outcome) === "invalid",
  },
  {
    id: "a-lost-connection-is-lost",
    difference:
      "A server that ends when it is probed is a lost connection for the core, with a note that one more start without the probe may succeed; the SDK reports that negotiation failed.",
    reason:
      "The connection is opened again as 2025, so the cause has to be told apart from a refusal.",
    right: "core",
    explains: ({ pair, aspect }) =>
      pair.place === "connect" &&
      aspect === "outcome" &&
      kindOf(pair.core.outcome) === "closed" &&
      kindOf(pair.sdk.outcome) === "invalid" &&
      answersToProbe(pair).length === 0,
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

/** The core went on to `initialize` where the SDK stopped. */
function hasTurnedToInitialize({ place, core, sdk }: Pair, aspect: string): boolean {
  return (
    place === "connect" &&
    handshakeAspects.test(aspect) &&
    core.sent.some(({ method }) => method === "initialize") &&
    sdk.sent.every(({ method }) => method === "server/discover")
  );
}

function answersToProbe(pair: Pair): readonly JsonObject[] {
  return firstAnswers(pair).flatMap(({ label, message }) =>
    label.startsWith("server/discover") ? [message] : [],
  );
}

function hasUnnamedError({ transcript }: Pair): boolean {
  return messagesOf(transcript).some(
    (message) => isJsonObject(message) && message["id"] === null && "error" in message,
  );
}
