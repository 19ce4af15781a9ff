import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

import type { Conversation } from "./conversations.ts";

const folder = path.resolve(import.meta.dirname, "../seeds");

/** What once broke an invariant: kept for good, and tried first in every run. */
export interface KeptSeed {
  readonly seed: number;
  readonly why: string;
  readonly conversation: Conversation;
}

export function readKeptSeeds(): readonly KeptSeed[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(path.join(folder, name), "utf8")) as KeptSeed);
}

/** Returns the file's name. */
export function keepSeed(kept: KeptSeed): string {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${kept.seed}.json`);
  writeFileSync(file, `${JSON.stringify(kept, undefined, 2)}\n`);
  return file;
}
