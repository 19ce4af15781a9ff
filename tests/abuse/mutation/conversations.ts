import fc from "fast-check";

import {
  type CallScript,
  type LineScript,
  messageCount,
  mutationNames,
} from "../hostile/mutated-line.mjs";

/** One connection after another to a server whose lines do not arrive as they were sent. */
export interface Conversation {
  /** What comes before the honest answers to the handshakes of the first connections. */
  readonly handshakes: readonly (readonly LineScript[])[];
  /** Calls of one group are made at once. */
  readonly groups: readonly (readonly CutCallScript[])[];
}

export interface CutCallScript extends CallScript {
  /** Where the bytes are cut into chunks, from 0 to 1. */
  readonly cuts: readonly number[];
}

const share = fc.nat(999).map((thousandths) => thousandths / 1_000);

const line: fc.Arbitrary<LineScript> = fc.record({
  message: fc.nat(messageCount - 1),
  mutations: fc.array(
    fc.record({
      name: fc.constantFrom(...mutationNames),
      where: share,
      salt: fc.nat(999),
    }),
    { minLength: 1, maxLength: 3, size: "max" },
  ),
});

export const callScript: fc.Arbitrary<CutCallScript> = fc.record({
  lines: fc.array(line, { minLength: 1, maxLength: 4, size: "max" }),
  // Silence is rare: each one costs a real call its whole deadline.
  isAnswered: fc.nat(9).map((digit) => digit > 0),
  cuts: fc.array(share, { maxLength: 3, size: "max" }),
});

export const conversation: fc.Arbitrary<Conversation> = fc.record({
  handshakes: fc.array(fc.array(line, { maxLength: 3, size: "max" }), { maxLength: 2 }),
  groups: fc.array(fc.array(callScript, { minLength: 1, maxLength: 3, size: "max" }), {
    minLength: 1,
    maxLength: 20,
    size: "max",
  }),
});

export function lineCount({ groups }: Conversation): number {
  return groups.flat().reduce((sum, { lines }) => sum + lines.length, 0);
}
