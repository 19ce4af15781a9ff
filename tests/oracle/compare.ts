import { isDeepStrictEqual } from "node:util";

import type { Observation, OperationObservation, SeenMessage } from "./observation.ts";
import type { Operation, Transcript } from "./transcript.ts";

/** What both clients did at one place of a transcript. */
export interface Pair {
  readonly transcript: Transcript;
  readonly place: number | "connect";
  /** Absent for the handshake. */
  readonly operation: Operation | undefined;
  readonly core: OperationObservation;
  readonly sdk: OperationObservation;
  /** Everything else they did. */
  readonly all: { readonly core: Observation; readonly sdk: Observation };
}

/** One thing the two did not do alike. */
export interface Difference {
  readonly pair: Pair;
  /**
   * `outcome` when one failed or both did in different ways, else the member of the value or failure
   * (`value.content`, `failure.message`); `progress`; `sent`; of the connection as a whole, which
   * counts with the handshake: `notifications`, `answers`, `end`.
   */
  readonly aspect: string;
  readonly core: unknown;
  readonly sdk: unknown;
}

export function compare(
  transcript: Transcript,
  core: Observation,
  sdk: Observation,
): readonly Difference[] {
  const all = { core, sdk };
  const connect: Pair = {
    transcript,
    place: "connect",
    operation: undefined,
    core: core.connect,
    sdk: sdk.connect,
    all,
  };
  const differences = compareOperation(connect);
  // Who did not connect did nothing else either.
  if (!core.connect.outcome.ok || !sdk.connect.outcome.ok) return differences;
  for (const [place, operation] of transcript.operations.entries()) {
    const [ours, theirs] = [core.operations[place], sdk.operations[place]];
    if (ours !== undefined && theirs !== undefined)
      differences.push(
        ...compareOperation({ transcript, place, operation, core: ours, sdk: theirs, all }),
      );
  }
  return [
    ...differences,
    ...compareMembers(
      connect,
      { notifications: core.notifications, answers: sorted(core.answers), end: core.hasEnded },
      { notifications: sdk.notifications, answers: sorted(sdk.answers), end: sdk.hasEnded },
    ),
  ];
}

function compareOperation(pair: Pair): Difference[] {
  const { core, sdk } = pair;
  return compareMembers(pair, aspectsOf(core, sdk), aspectsOf(sdk, core));
}

type Aspects = Readonly<Record<string, unknown>>;

function aspectsOf(own: OperationObservation, other: OperationObservation): Aspects {
  const { outcome, progress, sent } = own;
  const common = { progress, sent };
  if (outcome.ok && other.outcome.ok) return { ...common, ...prefixed("value", outcome.value) };
  if (!outcome.ok && !other.outcome.ok && outcome.failure.kind === other.outcome.failure.kind)
    return { ...common, ...prefixed("failure", outcome.failure) };
  return { ...common, outcome };
}

function prefixed(prefix: string, value: unknown): Aspects {
  return Object.fromEntries(
    Object.entries(value ?? {}).map(([name, member]) => [`${prefix}.${name}`, member]),
  );
}

function compareMembers(pair: Pair, core: Aspects, sdk: Aspects): Difference[] {
  const aspects = new Set([...Object.keys(core), ...Object.keys(sdk)]);
  return [...aspects]
    .map((aspect) => ({ pair, aspect, core: asJson(core[aspect]), sdk: asJson(sdk[aspect]) }))
    .filter((difference) => !isDeepStrictEqual(difference.core, difference.sdk));
}

/** Members that are `undefined` are not there. */
function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** Answers carry ids, so their order says nothing. */
function sorted(answers: readonly SeenMessage[]): readonly string[] {
  return answers.map((answer) => JSON.stringify(answer)).toSorted();
}
