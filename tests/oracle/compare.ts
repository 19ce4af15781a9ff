import { isDeepStrictEqual } from "node:util";

import { canonicalJson } from "../../src/text/canonical-hash.ts";
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
   * (`value.content`, `failure.message`); `progress`; `sent`. Of the connection as a whole, which
   * counts with the handshake: `notification` and `answer` for each that only one of them heard or
   * gave, `order` when that is all, and `end`.
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
    ...compareItems(connect, "notification", core.notifications, sdk.notifications),
    // Answers carry ids, so their order says nothing.
    ...compareItems(connect, "answer", sorted(core.answers), sorted(sdk.answers)),
    ...compareMembers(connect, { end: core.hasEnded }, { end: sdk.hasEnded }),
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

/** What the core says about a list beside its tools; the SDK has nothing to set against it. */
const notes: ReadonlySet<string> = new Set(["rejected", "truncatedBy"]);

function prefixed(prefix: string, value: unknown): Aspects {
  return Object.fromEntries(
    Object.entries(value ?? {})
      .filter(([name]) => !notes.has(name))
      .map(([name, member]) => [`${prefix}.${name}`, member]),
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

function sorted(messages: readonly SeenMessage[]): readonly SeenMessage[] {
  return messages.toSorted((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
}

/** What only one of the two has, each by itself. */
function compareItems(
  pair: Pair,
  aspect: string,
  core: readonly object[],
  sdk: readonly object[],
): Difference[] {
  const coreOnly = without(core, sdk).map((item) => ({ pair, aspect, core: item, sdk: undefined }));
  const sdkOnly = without(sdk, core).map((item) => ({ pair, aspect, core: undefined, sdk: item }));
  const common = (items: readonly object[], gone: readonly unknown[]) =>
    without(items, gone as readonly object[]).map((item) => canonicalJson(item));
  const isReordered = !isDeepStrictEqual(
    common(
      core,
      coreOnly.map((difference) => difference.core),
    ),
    common(
      sdk,
      sdkOnly.map((difference) => difference.sdk),
    ),
  );
  const reordered = isReordered ? [{ pair, aspect: "order", core, sdk }] : [];
  return [...coreOnly, ...sdkOnly, ...reordered];
}

/** `items` less those that `others` has as well, each as often as it has it. */
function without(items: readonly object[], others: readonly object[]): readonly object[] {
  const left = others.map((item) => canonicalJson(item));
  return items.filter((item) => {
    const at = left.indexOf(canonicalJson(item));
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}
