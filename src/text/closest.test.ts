import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";

import { closest, editDistance } from "./closest.ts";

/** The same by its definition, cell by cell: slow, and easy to believe. */
function tableDistance(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (__, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  const at = (i: number, j: number): number => table[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i += 1)
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY;
      const cost = Math.min(replaced, at(i - 1, j) + 1, at(i, j - 1) + 1, swapped);
      (table[i] as number[])[j] = cost;
    }
  return at(a.length, b.length);
}

describe("the edit distance", () => {
  it("is that of the full table, up to the limit", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "_", "c"), maxLength: 12 });
    fc.assert(
      fc.property(word, word, fc.nat(6), (a, b, limit) => {
        expect(editDistance(a, b, limit)).toBe(Math.min(tableDistance(a, b), limit + 1));
      }),
      { numRuns: 2_000 },
    );
  });

  it("counts a swap of neighbours as one", () => {
    expect(editDistance("github", "gihtub", 1)).toBe(1);
    expect(editDistance("", "abc", 3)).toBe(3);
    expect(editDistance("", "", 0)).toBe(0);
  });
});

/** How many characters are looked at one by one while `work` is done: what it costs on any machine. */
function charactersRead(work: () => unknown): number {
  const read = vi.spyOn(String.prototype, "charCodeAt");
  try {
    work();
    return read.mock.calls.length;
  } finally {
    read.mockRestore();
  }
}

describe("closest names", () => {
  it("the nearest first, equally near ones by the alphabet, no more than were asked for", () => {
    const names = ["lists", "lift", "mist", "list_all", "list", "last"];
    expect(closest("lisst", names)).toEqual(["list", "lists", "last"]);
    expect(closest("LIST", names, 1)).toEqual(["list"]);
  });

  it("a long name costs a few comparisons for each of many that are nearly the same", () => {
    const names = Array.from(
      { length: 500 },
      (_, index) => `mcp__s__do_something_quite_long_with_the_repository_number_${index}`,
    );
    const word = "mcp__s__do_something_quite_lang_with_tha_repositery_numbar_x";
    const read = charactersRead(() => closest(word, names));
    expect(read / names.length).toBeGreaterThan(word.length);
    // The table of the definition has 3,600 cells for each of them.
    expect(read / names.length).toBeLessThan(300);
  });
});
