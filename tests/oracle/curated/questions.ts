import type { JsonObject } from "../../../src/text/json-object.ts";
import { answer } from "../generate/script-builder.ts";
import type { Emission, Transcript } from "../transcript.ts";
import { call, conversation, done } from "./conversation.ts";

const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
const inputRequests = {
  name: { method: "elicitation/create", params: { message: "?", requestedSchema } },
  folders: { method: "roots/list" },
};

function asks(label: string, members: JsonObject): Emission {
  return { send: answer(label, { resultType: "input_required", ...members }) };
}

/** A call that is answered with `questions` before the result. */
function interrogation(name: string, questions: readonly JsonObject[]): Transcript {
  return conversation(
    name,
    "modern",
    (script) => {
      const [first = {}, ...more] = questions;
      call(script, (label) => [asks(label, first)]);
      for (const members of more) {
        const label = script.expect("tools/call");
        script.react(label, asks(label, members));
      }
      const last = script.expect("tools/call");
      script.react(last, { send: answer(last, script.complete(done)) });
    },
    { offersInput: true },
  );
}

/** What servers ask of the client. */
export const questions: readonly Transcript[] = [
  interrogation("a server that asks twice", [
    { inputRequests, requestState: "s1" },
    { inputRequests, requestState: "s2" },
  ]),
  interrogation("a server that only wants the request again", [{ requestState: "s1" }]),
  interrogation("a server that asks for nothing at all", [{}]),
  interrogation(
    "a server that never has enough",
    Array.from({ length: 12 }, (_, round) => ({ inputRequests, requestState: `s${round}` })),
  ),
  conversation("a server that asks for input nobody offered", "modern", (script) => {
    call(script, (label) => [asks(label, { inputRequests })]);
  }),
  conversation("a modern server that asks as in 2025", "modern", (script) => {
    call(script, (label) => [
      { send: { jsonrpc: "2.0", id: "x", method: "ping" } },
      { send: answer(label, script.complete(done)) },
    ]);
  }),
  conversation("a server that asks and ends", "legacy", (script) => {
    call(script, () => [{ send: { jsonrpc: "2.0", id: "x", method: "ping" } }, { end: true }]);
  }),
  conversation("notifications and requests that are odd", "legacy", (script) => {
    const odd = [
      { method: "notifications/cancelled", params: { requestId: "none" } },
      { method: "notifications/example", more: 1 },
      { method: "ping", id: 5, more: 1 },
      { method: "ping", id: 6, params: [1] },
    ];
    call(script, (label) => [
      ...odd.map((message) => ({ send: { jsonrpc: "2.0", ...message } })),
      { send: answer(label, done) },
    ]);
  }),
];
