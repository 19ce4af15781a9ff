/** More differences than these make another word, however long it is. */
const maxEdits = 4;
const maxChars = 128;
/** So far below zero that no number of edits leads out of it. */
const unreached = -1_000_000;

/**
 * Edit distance with adjacent swaps; `limit + 1` for anything above `limit`. Follows only how far the two
 * agree after so many edits (Ukkonen's diagonals): what is not alike costs a few comparisons, and an error
 * may look at thousands of names.
 */
export function editDistance(a: string, b: string, limit: number): number {
  const shift = b.length - a.length;
  if (Math.abs(shift) > limit) return limit + 1;
  // At `d + limit + 1`: how many characters of `a` those edits turn into that many, plus `d`, of `b`.
  const reached = new Int32Array(2 * limit + 3).fill(unreached);
  for (let edits = 0; edits <= limit; edits += 1) {
    let below = unreached;
    for (let d = -edits; d <= edits; d += 1) {
      const slot = d + limit + 1;
      const before = reached[slot] as number;
      const isSwap =
        a.charCodeAt(before) === b.charCodeAt(before + d + 1) &&
        a.charCodeAt(before + 1) === b.charCodeAt(before + d);
      const replaced = before + (isSwap ? 2 : 1);
      const removed = (reached[slot + 1] as number) + 1;
      let i = edits === 0 ? 0 : Math.max(replaced, removed, below);
      i = Math.min(i, a.length, b.length - d);
      while (i < a.length && i + d < b.length && a.charCodeAt(i) === b.charCodeAt(i + d)) i += 1;
      reached[slot] = i;
      below = before;
    }
    if (reached[shift + limit + 1] === a.length) return edits;
  }
  return limit + 1;
}

/** Up to `count` candidates that the writer of `word` may have meant, the most likely first. */
export function closest(word: string, candidates: Iterable<string>, count = 3): string[] {
  const wanted = word.toLowerCase().slice(0, maxChars);
  let limit = Math.min(maxEdits, Math.max(2, Math.floor(wanted.length / 3)));
  const best: Scored[] = [];
  for (const candidate of candidates) {
    const lower = candidate.toLowerCase().slice(0, maxChars);
    // Half a name typed is as good a hint as one letter off.
    const isHalf = wanted.length >= 2 && lower.includes(wanted);
    const distance = editDistance(wanted, lower, limit);
    const score = isHalf ? Math.min(distance, 1.5) : distance;
    if (score > limit) continue;
    const scored = { candidate, score };
    const place = best.findIndex((other) => isBetter(scored, other));
    best.splice(place === -1 ? best.length : place, 0, scored);
    if (best.length > count) best.pop();
    // From now on only as good a one is of interest.
    if (best.length === count) limit = Math.ceil(best.at(-1)?.score ?? limit);
  }
  return best.map(({ candidate }) => candidate);
}

interface Scored {
  readonly candidate: string;
  readonly score: number;
}

function isBetter(one: Scored, other: Scored): boolean {
  return one.score < other.score || (one.score === other.score && one.candidate < other.candidate);
}
