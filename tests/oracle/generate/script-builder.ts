import type { ProtocolEra } from "../../../src/protocol/wire/protocol-versions.ts";
import type { JsonObject } from "../../../src/text/json-object.ts";
import { Labels } from "../peer/script-player.mjs";
import type { Emission, Label, Operation, Reference, Transcript } from "../transcript.ts";

/** Puts a transcript together, keeping count of the labels. */
export class ScriptBuilder {
  readonly era: ProtocolEra;
  /** The client answers what the server asks. */
  readonly offersInput: boolean;
  readonly operations: Operation[] = [];
  readonly #reactions: Record<Label, Emission[]> = {};
  readonly #labels = new Labels();
  #lastNumber = 0;

  constructor(era: ProtocolEra, offersInput = false) {
    this.era = era;
    this.offersInput = offersInput;
  }

  /** The label of the client's next message of this method. */
  expect(method: string, cursor?: unknown): Label {
    return this.#labels.of(method, cursor);
  }

  react(label: Label, ...emissions: readonly Emission[]): void {
    (this.#reactions[label] ??= []).push(...emissions);
  }

  /** Adds an operation; returns its place. */
  operate(operation: Operation): number {
    return this.operations.push(operation) - 1;
  }

  /** A result with what the era wants in each. */
  complete(result: JsonObject): JsonObject {
    return this.era === "modern" ? { resultType: "complete", ...result } : result;
  }

  /** Each time a greater one. */
  freshNumber(): number {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }

  build(name: string, negotiation: Transcript["negotiation"]): Transcript {
    const { era, offersInput, operations } = this;
    return { name, era, negotiation, offersInput, operations, reactions: this.#reactions };
  }
}

export function answer(label: Label, result: unknown): JsonObject {
  return { jsonrpc: "2.0", id: { $id: label } satisfies Reference, result };
}

export function refusal(label: Label, error: unknown): JsonObject {
  return { jsonrpc: "2.0", id: { $id: label } satisfies Reference, error };
}
