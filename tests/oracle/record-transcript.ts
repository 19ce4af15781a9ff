import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { ProtocolEra } from "../../src/protocol/wire/protocol-versions.ts";
import { isJsonObject } from "../../src/text/json-object.ts";
import type { HostTransport } from "../../src/transport/host-transport.ts";
import { coreSubject } from "./core-subject.ts";
import { Labels } from "./peer/script-player.mjs";
import { transportParts } from "./stage.ts";
import type { Connected, RequestOperation } from "./subject.ts";
import { type SentMessage, TappedTransport, type WireMessage } from "./tapped-transport.ts";
import type { Emission, Label, Operation, Transcript } from "./transcript.ts";

export interface Performance {
  readonly name: string;
  readonly era: ProtocolEra;
  /** To a real server, not started. */
  readonly transport: HostTransport;
  readonly operations: readonly Operation[];
  readonly negotiation?: Transcript["negotiation"];
}

/** Something the server did, and how many messages the client had sent by then. */
interface Event {
  readonly sentCount: number;
  readonly emission: "end" | JSONRPCMessage;
}

/** Has our client do the operations with a real server and writes down what the server does. */
export async function recordTranscript(performance: Performance): Promise<Transcript> {
  const { name, era, operations, negotiation = "auto" } = performance;
  const transcript: Transcript = { name, era, negotiation, operations, reactions: {} };
  const transport = new TappedTransport(performance.transport);
  const events: Event[] = [];
  const note = (emission: Event["emission"]): void =>
    void events.push({ sentCount: transport.sent.length, emission });
  const { onmessage } = performance.transport;
  performance.transport.onmessage = (message, extra) => {
    note(message);
    onmessage?.(message, extra);
  };
  let isClosing = false;
  const client = await coreSubject.connect({
    transcript,
    transport,
    clock: transportParts.clock,
    onNotification: () => undefined,
    onClose: () => {
      if (!isClosing) note("end");
    },
  });
  await operate(client, operations);
  isClosing = true;
  await client.close();
  return { ...transcript, reactions: reactionsOf(transport.sent, events) };
}

async function operate(client: Connected, operations: readonly Operation[]): Promise<void> {
  const running: Promise<unknown>[] = [];
  for (const operation of operations) {
    const run = client
      .run(operation as RequestOperation, {
        signal: new AbortController().signal,
        timeoutMs: 10_000,
        onProgress: "progress" in operation ? () => undefined : undefined,
      })
      .catch(() => undefined);
    if ("concurrent" in operation) running.push(run);
    else await run;
  }
  await Promise.all(running);
}

/** Whatever the server said, it said after the last message the client had sent by then. */
function reactionsOf(
  sent: readonly SentMessage[],
  events: readonly Event[],
): Record<Label, Emission[]> {
  const labels = new Labels();
  const labelled = sent.map(({ message }) => ({
    message,
    label: labels.of(message.method, message.params?.["cursor"]),
  }));
  const reactions: Record<Label, Emission[]> = {};
  for (const { sentCount, emission } of events) {
    const by = labelled[sentCount - 1]?.label ?? "";
    (reactions[by] ??= []).push(
      emission === "end" ? { end: true } : { send: withReferences(emission, labelled) },
    );
  }
  return reactions;
}

function withReferences(
  message: JSONRPCMessage,
  sent: readonly { readonly message: WireMessage; readonly label: Label }[],
): unknown {
  const labelOf = (id: unknown): Label | undefined =>
    sent.find(({ message: { id: own, method } }) => own === id && method !== undefined)?.label;
  if (!("method" in message)) return { ...message, id: { $id: labelOf(message.id) } };
  const token = isJsonObject(message.params) ? message.params["progressToken"] : undefined;
  if (token === undefined) return message;
  return { ...message, params: { ...message.params, progressToken: { $token: labelOf(token) } } };
}
