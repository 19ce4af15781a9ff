import { tmpdir } from "node:os";
import path from "node:path";

import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import { converse } from "../mutation/converse.ts";
import { mutatedServer, playOverHttp, playToChild } from "../mutation/play-calls.ts";
import type { Product } from "../product.ts";
import type { Figures, Row } from "../row.ts";

const file = path.join(tmpdir(), `plugboard-mutated-lines-${process.pid}.json`);
/** What goes through a real child and real HTTP, of all lines. */
const childShare = 0.02;
const httpShare = 0.03;

async function mutate(lab: Lab, product: Product): Promise<Figures> {
  const seed = chooseSeed(lab);
  const { count, form } = lab;
  if (form === "stock") {
    const lines = await playToChild(lab, { seed, lines: count, file });
    return { "lines from a child": lines, seed };
  }
  const childLines = await playToChild(lab, { seed, lines: count * childShare, file });
  const http = await playOverHttp(product, { seed, bodies: count * httpShare });
  const inProcess = await converse(product, seed, count - childLines - http["HTTP bodies"]);
  return { ...inProcess, "lines from a child": childLines, ...http, seed };
}

/** `npm test` repeats itself; the other forms go where nobody has been, unless told where. */
function chooseSeed({ form }: Lab): number {
  const given = process.env["ABUSE_SEED"];
  if (given !== undefined) return Number(given);
  return form === "short" ? 20_251_115 : Math.floor(Math.random() * 2 ** 31);
}

export const mutationRows: readonly Row[] = [
  {
    id: "K6",
    trigger: "mutated lines and bodies",
    expected: "no crash, no hang, every call ends once",
    measured:
      "made by fast-check from valid messages: most through the reader and the host in process, on a clock that shows every hang; the rest from a real child and over HTTP",
    criteria: [
      { figure: "crashes", atMost: 0 },
      { figure: "hung calls", atMost: 0 },
      { figure: "broken conversations", atMost: 0 },
      { figure: "hung over HTTP", atMost: 0 },
      { figure: "not clean over HTTP", atMost: 0 },
    ],
    servers: { [mutatedServer]: hostileEntry("mutated-lines", { file }) },
    isBusy: true,
    stallAllowance: {
      atMostMs: Number.POSITIVE_INFINITY,
      reason: "the attack makes its mutated lines in this process, thousands without a pause",
    },
    counts: { short: 20_000, normal: 100_000, long: 1_000_000, stock: 2_000 },
    attack: mutate,
  },
];
