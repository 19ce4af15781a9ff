import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import fc from "fast-check";

import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { CallScript } from "../hostile/mutated-line.mjs";
import { Lab } from "../lab.ts";
import { callScript, conversation, lineCount } from "../mutation/conversations.ts";
import { keepSeed, readKeptSeeds } from "../mutation/kept-seeds.ts";
import { startMutatedHttpServer } from "../mutation/mutated-http-server.ts";
import { runConversation } from "../mutation/run-conversation.ts";
import { openPlugboard } from "../plugboard-subject.ts";
import type { Product } from "../product.ts";
import type { Figures, Row } from "../row.ts";

const server = "hostile";
const scriptsFile = path.join(tmpdir(), `plugboard-mutated-lines-${process.pid}.json`);
/** What goes through a real child and real HTTP, of all lines. */
const childShare = 0.05;
const httpShare = 0.05;
const linesPerScript = 2.5;
const callsAtOnce = 16;
const conversationsPerSeed = 100;

/** `npm test` repeats itself; the other forms go where nobody has been, unless told where. */
function chooseSeed(lab: Lab): number {
  const given = process.env["ABUSE_SEED"];
  if (given !== undefined) return Number(given);
  return lab.form === "short" ? 20_251_115 : Math.floor(Math.random() * 2 ** 31);
}

async function mutate(lab: Lab, product: Product): Promise<Figures> {
  const seed = chooseSeed(lab);
  const isStock = lab.form === "stock";
  const total = lab.count;
  const childLines = await playToChild(lab, seed, isStock ? total : total * childShare);
  if (isStock) return { "lines from a child": childLines, seed };
  const http = await playOverHttp(product, lab, { seed, lines: total * httpShare });
  const inProcess = await converse(product, seed, total - childLines - http["HTTP bodies"]);
  return { ...inProcess, ...http, "lines from a child": childLines, seed };
}

/** Calls to a real child that says what was made up for each; returns how many lines that were. */
async function playToChild(lab: Lab, seed: number, lines: number): Promise<number> {
  const scripts = fc.sample(callScript, { seed, numRuns: Math.ceil(lines / linesPerScript) });
  writeFileSync(scriptsFile, JSON.stringify(scripts));
  try {
    await playAll(lab, scripts);
  } finally {
    rmSync(scriptsFile);
  }
  return scripts.reduce((sum, script) => sum + script.lines.length, 0);
}

async function playAll(lab: Lab, scripts: readonly CallScript[]): Promise<void> {
  const onProgress = (): void => {};
  const queue = scripts.entries();
  const worker = async (): Promise<void> => {
    for (const [script] of queue)
      await lab.call({ server, args: { script, nonce: `n${script}` }, timeoutMs: 500, onProgress });
  };
  await Promise.all(Array.from({ length: callsAtOnce }, worker));
}

async function playOverHttp(
  product: Product,
  { form }: Lab,
  { seed, lines }: { readonly seed: number; readonly lines: number },
) {
  const scripts = fc.sample(callScript, { seed: seed + 1, numRuns: Math.ceil(lines) });
  await using http = await startMutatedHttpServer(scripts);
  await using subject = await openPlugboard(product, { [server]: { url: http.url } });
  const lab = new Lab(subject, form, scripts.length);
  await playAll(lab, scripts);
  const { "hung calls": hung = 0, ...rest } = lab.figures;
  return {
    "HTTP bodies": http.bodies,
    "hung over HTTP": hung,
    "not clean over HTTP": Object.values(rest).reduce((sum, value) => sum + value, 0),
  };
}

/** Conversations in process until so many lines were said; the first that breaks an invariant is kept. */
async function converse(product: Product, firstSeed: number, lines: number): Promise<Figures> {
  let said = 0;
  let broken = 0;
  const property = fc.asyncProperty(conversation, async (spoken) => {
    said += lineCount(spoken);
    await runConversation(product, spoken);
  });
  for (const { conversation: kept } of readKeptSeeds()) await runConversation(product, kept);
  for (let seed = firstSeed; said < lines && broken === 0; seed += 1) {
    const numRuns = Math.min(conversationsPerSeed, Math.ceil((lines - said) / 50));
    const result = await fc.check(property, {
      seed,
      numRuns,
      interruptAfterTimeLimit: 120_000,
      markInterruptAsFailure: true,
    });
    if (!result.failed) continue;
    broken += 1;
    const why = String(result.errorInstance ?? "it took too long");
    const [counterexample] = result.counterexample ?? [];
    if (counterexample === undefined) continue;
    const file = keepSeed({ seed, why, conversation: counterexample });
    process.stderr.write(`${why}: kept in ${path.relative(process.cwd(), file)}\n`);
  }
  return { "broken conversations": broken, "lines in process": said };
}

export const mutationRows: readonly Row[] = [
  {
    id: "K6",
    trigger: "mutated lines and bodies",
    expected: "no crash, no hang, every call ends once",
    measured:
      "made by fast-check from valid messages: most through the reader and the host in process, on a clock that shows every hang; the rest from a real child and over HTTP",
    criteria: [
      { figure: "broken conversations", atMost: 0 },
      { figure: "hung over HTTP", atMost: 0 },
      { figure: "not clean over HTTP", atMost: 0 },
    ],
    servers: { [server]: hostileEntry("mutated-lines", { file: scriptsFile }) },
    isBusy: true,
    counts: { short: 20_000, normal: 100_000, long: 1_000_000, stock: 2_000 },
    attack: mutate,
  },
];
