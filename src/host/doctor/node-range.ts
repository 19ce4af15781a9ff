type Release = readonly [major: number, minor: number, patch: number];

const operators: Readonly<Record<string, (order: number) => boolean>> = {
  ">=": (order) => order >= 0,
  ">": (order) => order > 0,
  "<=": (order) => order <= 0,
  "<": (order) => order < 0,
};

/**
 * Says whether a version of Node lies in a range as `engines` of a manifest has it; undefined for a range that is
 * written in a way that is not understood here. Knows comparisons, `^`, `~`, `x`, hyphens and `||`.
 */
export function isInNodeRange(version: string, range: string): boolean | undefined {
  const release = parseRelease(version);
  if (release === undefined) return undefined;
  const verdicts = new Set(range.split("||").map((part) => isInAll(release, part)));
  if (verdicts.has(true)) return true;
  return verdicts.has(undefined) ? undefined : false;
}

/** A part of a range without `||`: all of its comparisons have to hold. */
function isInAll(release: Release, part: string): boolean | undefined {
  const spread = part.replace(/^\s*(\S+)\s+-\s+(\S+)\s*$/, ">=$1 <=$2");
  const words = spread.replaceAll(/(>=|<=|>|<|=|\^|~)\s+/g, "$1").match(/\S+/g) ?? ["*"];
  const verdicts = words.map((word) => isWithin(release, word));
  if (verdicts.includes(undefined)) return undefined;
  return verdicts.every(Boolean);
}

function isWithin(release: Release, word: string): boolean | undefined {
  const [, operator = "", text = ""] = /^(>=|<=|>|<|=|\^|~)?(.*)$/s.exec(word) ?? [];
  if (/^v?[x*]$/i.test(text) && operator === "") return true;
  const known = /^v?(\d+)(?:\.(\d+|[x*]))?(?:\.(\d+|[x*]))?(?:-[\w.-]+)?$/i.exec(text);
  if (known === null) return undefined;
  const written: number[] = [];
  for (const part of known.slice(1) as (string | undefined)[]) {
    if (part === undefined || !/^\d+$/.test(part)) break;
    written.push(Number(part));
  }
  const floor: Release = [written[0] ?? 0, written[1] ?? 0, written[2] ?? 0];
  const order = compare(release, floor);
  // What is left open in `>20` and `<=20.1` is the whole of that line of releases.
  const isOnLine = written.every((number, index) => number === release[index]);
  switch (operator) {
    case "^": {
      const fixed = floor[0] > 0 ? 1 : written.length > 1 && floor[1] > 0 ? 2 : written.length;
      return order >= 0 && floor.slice(0, fixed).every((number, i) => number === release[i]);
    }
    case "~":
      return (
        order >= 0 &&
        floor.slice(0, Math.min(written.length, 2)).every((number, i) => number === release[i])
      );
    case "":
    case "=":
      return isOnLine;
    case ">":
      return order > 0 && !isOnLine;
    case "<=":
      return order <= 0 || isOnLine;
    default:
      return operators[operator]?.(order);
  }
}

/** Reads `v22.1.0` or `22.1.0`; what stands behind the three numbers does not count. */
function parseRelease(version: string): Release | undefined {
  const [, major, minor, patch] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  return patch === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

function compare(one: Release, other: Release): number {
  for (const index of [0, 1, 2] as const)
    if (one[index] !== other[index]) return one[index] - other[index];
  return 0;
}
