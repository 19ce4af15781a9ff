import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";
import { decimalOf } from "./decimal.ts";

const server = "hostile";

const poison = '{"polluted":"yes"}';
const poisoned = `{"__proto__":${poison},"constructor":{"prototype":${poison}},"a":{"__proto__":${poison}}}`;
const poisonedPlaces = ["structured", "content", "meta", "error", "notifications"];
const poisonedTools = ["__proto__", "constructor", "toString"];

/** What is poison to an object must come out as the data that went in. */
async function swallowPoison(lab: Lab): Promise<Figures> {
  let altered = 0;
  const onProgress = (): void => {};
  for (let round = 0; round < lab.count; round += 1) {
    for (const where of poisonedPlaces) {
      const { structured, errorData } = await lab.call({ server, args: { where }, onProgress });
      if (JSON.stringify(where === "error" ? errorData : structured) !== poisoned) altered += 1;
    }
    for (const tool of poisonedTools)
      await lab.call({ server, tool, args: { where: "structured" } });
    const args = JSON.parse(`{"where":"structured","__proto__":${poison}}`) as object;
    await lab.call({ server, args: { ...args } });
  }
  return { altered, "dead afterwards": Number(!(await lab.isAlive(server))) };
}

/** Fractions that no double holds exactly are left out: every reader of JSON rounds them. */
const literals = [
  "1e400",
  "-1e400",
  "9007199254740993",
  "-9007199254740993",
  "1e-400",
  "123456789012345678901234567890",
  "-0",
  "0.1",
  "1.7976931348623157e308",
  "5e-324",
  "9007199254740991",
  "1E5",
  "100000000000000000000",
];

/** A number may change its spelling on the way, never its value, unless the caller is told. */
async function returnNumbers(lab: Lab): Promise<Figures> {
  const silentlyChanged = new Set<string>();
  for (let round = 0; round < lab.count; round += 1)
    for (const literal of literals) {
      const warningsBefore = lab.subject.counts.warnings;
      const { ok, structured } = await lab.call({ server, args: { literal } });
      const isFlagged = !ok || lab.subject.counts.warnings > warningsBefore;
      if (!isFlagged && !isSameNumber(literal, structured)) silentlyChanged.add(literal);
    }
  return {
    "silently changed": silentlyChanged.size,
    ...Object.fromEntries([...silentlyChanged].map((literal) => [`changed: ${literal}`, 1])),
  };
}

function isSameNumber(literal: string, structured: unknown): boolean {
  const encoded = /^\{"value":(.+)\}$/.exec(JSON.stringify(structured) ?? "")?.[1] ?? "";
  return decimalOf(encoded) === decimalOf(literal);
}

/** What JSON cannot hold must be refused before it is sent, not turned into something else. */
async function sendNumbers(lab: Lab): Promise<Figures> {
  let sent = 0;
  for (let round = 0; round < lab.count; round += 1)
    for (const value of [
      Number.POSITIVE_INFINITY,
      Number.NaN,
      2n ** 64n,
      [-Number.POSITIVE_INFINITY],
    ]) {
      const { code } = await lab.call({ server, tool: "echo", args: { message: value } });
      if (code !== "invalid_arguments") sent += 1;
    }
  return { "sent changed": sent };
}

export const valueRows: readonly Row[] = [
  {
    id: "A12",
    trigger: "proto-pollution",
    expected: "stored and displayed as data",
    measured:
      "members of the built-in prototypes before and after; results and error data encoded again, letter by letter",
    criteria: [
      { figure: "polluted prototypes", atMost: 0 },
      { figure: "altered", atMost: 0 },
      { figure: "dead afterwards", atMost: 0 },
    ],
    servers: { [server]: hostileEntry("proto-pollution") },
    counts: { short: 1, normal: 20, long: 500, stock: 1 },
    attack: swallowPoison,
  },
  {
    id: "A13",
    trigger: "number-edge",
    expected: "no Infinity or precision change sent on silently",
    measured: `${literals.length} literals; the result encoded again and compared as exact decimals; an error or a warning counts as told`,
    criteria: [{ figure: "silently changed", atMost: 0 }],
    servers: { [server]: hostileEntry("number-edge") },
    counts: { short: 1, normal: 5, long: 50, stock: 1 },
    attack: returnNumbers,
  },
  {
    id: "A13",
    trigger: "numbers in arguments",
    expected: "refused as invalid_arguments",
    measured: "Infinity, NaN, a bigint and a nested -Infinity as arguments of an echo",
    criteria: [{ figure: "sent changed", atMost: 0 }],
    servers: { [server]: hostileEntry("healthy") },
    counts: { short: 1, normal: 5, long: 50, stock: 1 },
    attack: sendNumbers,
  },
];
