import path from "node:path";

import fc from "fast-check";

import type { Product } from "../product.ts";
import type { Figures } from "../row.ts";
import { conversation, lineCount } from "./conversations.ts";
import { keepSeed, readKeptSeeds } from "./kept-seeds.ts";
import { runConversation } from "./run-conversation.ts";

const conversationsPerSeed = 100;
const shrinkLimitMs = 120_000;

/**
 * Conversations in process, from `firstSeed` on, until so many lines were said. The first one that
 * breaks an invariant ends it and is kept.
 */
export async function converse(
  product: Product,
  firstSeed: number,
  lines: number,
): Promise<Figures> {
  const tally = { said: 0, broken: 0 };
  const property = fc.asyncProperty(conversation, async (spoken) => {
    tally.said += lineCount(spoken);
    await runConversation(product, spoken);
  });
  for (const kept of readKeptSeeds())
    await runConversation(product, kept.conversation).catch((error: unknown) => {
      tally.broken += 1;
      report(`${errorText(error)}: again, as in seed ${kept.seed}`);
    });
  for (let seed = firstSeed; tally.said < lines && tally.broken === 0; seed += 1) {
    const result = await fc.check(property, {
      seed,
      numRuns: conversationsPerSeed,
      interruptAfterTimeLimit: shrinkLimitMs,
      markInterruptAsFailure: true,
    });
    if (!result.failed) continue;
    tally.broken += 1;
    const [counterexample] = result.counterexample ?? [];
    const why = errorText(result.errorInstance);
    if (counterexample === undefined) report(`seed ${seed} took too long`);
    else report(`${why}: kept in ${keepSeed({ seed, why, conversation: counterexample })}`);
  }
  return { "broken conversations": tally.broken, "lines in process": tally.said };
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : "unknown";
}

function report(text: string): void {
  process.stderr.write(`${text.replaceAll(`${process.cwd()}${path.sep}`, "")}\n`);
}
