import { rmSync, writeFileSync } from "node:fs";

import fc from "fast-check";

import type { CallScript } from "../hostile/mutated-line.mjs";
import { Lab } from "../lab.ts";
import { openPlugboard } from "../plugboard-subject.ts";
import type { Product } from "../product.ts";
import { callScript } from "./conversations.ts";
import { startMutatedHttpServer } from "./mutated-http-server.ts";

export const mutatedServer = "hostile";

const linesPerScript = 2.5;
const timeoutMs = 300;
/** Few, because a line that ends the connection ends all calls that wait for it. */
const callsAtOnce = 4;

/** Calls to a real child that reads what to say from `file`; returns how many lines that were. */
export async function playToChild(
  lab: Lab,
  options: { readonly seed: number; readonly lines: number; readonly file: string },
): Promise<number> {
  const { seed, lines, file } = options;
  const scripts = fc.sample(callScript, { seed, numRuns: Math.ceil(lines / linesPerScript) });
  writeFileSync(file, JSON.stringify(scripts));
  try {
    await playAll(lab, scripts);
  } finally {
    rmSync(file);
  }
  return scripts.reduce((sum, script) => sum + script.lines.length, 0);
}

/** Calls over HTTP, each answered by a body with lines of its own. */
export async function playOverHttp(
  product: Product,
  options: { readonly seed: number; readonly bodies: number },
) {
  const { seed, bodies } = options;
  const scripts = fc.sample(callScript, { seed, numRuns: Math.ceil(bodies) });
  await using server = await startMutatedHttpServer(scripts);
  await using subject = await openPlugboard(product, { [mutatedServer]: { url: server.url } });
  const lab = new Lab(subject, "normal", scripts.length);
  await playAll(lab, scripts);
  const { "hung calls": hung = 0, ...rest } = lab.figures;
  return {
    "HTTP bodies": server.bodies,
    "hung over HTTP": hung,
    "not clean over HTTP": Object.values(rest).reduce((sum, value) => sum + value, 0),
  };
}

async function playAll(lab: Lab, scripts: readonly CallScript[]): Promise<void> {
  const queue = scripts.entries();
  const worker = async (): Promise<void> => {
    for (const [script] of queue)
      await lab.call({
        server: mutatedServer,
        args: { script, nonce: `n${script}` },
        timeoutMs,
        onProgress: () => {},
      });
  };
  await Promise.all(Array.from({ length: callsAtOnce }, worker));
}
