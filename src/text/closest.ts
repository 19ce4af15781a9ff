/** Edit distance with adjacent swaps, given up once it must exceed `limit`. */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    let best = i;
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, substitution);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (beforePrevious[j - 2] ?? 0) + 1);
      current.push(cost);
      best = Math.min(best, cost);
    }
    if (best > limit) return limit + 1;
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? limit + 1;
}

/** Up to `count` candidates that the writer of `word` may have meant, the most likely first. */
export function closest(word: string, candidates: Iterable<string>, count = 3): string[] {
  const wanted = word.toLowerCase().slice(0, 128);
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  const scored: { readonly candidate: string; readonly score: number }[] = [];
  for (const candidate of candidates) {
    const lower = candidate.toLowerCase().slice(0, 128);
    let score = editDistance(wanted, lower, limit);
    // Half a name typed is as good a hint as one letter off.
    if (wanted.length >= 2 && (lower.startsWith(wanted) || lower.includes(wanted)))
      score = Math.min(score, 1.5);
    if (score <= limit) scored.push({ candidate, score });
  }
  scored.sort((a, b) => a.score - b.score || (a.candidate < b.candidate ? -1 : 1));
  return scored.slice(0, count).map(({ candidate }) => candidate);
}
