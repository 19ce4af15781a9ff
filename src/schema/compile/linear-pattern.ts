import type { RE2JS } from "re2js";

import type { LinearPattern } from "../guard/pattern-syntax.ts";
import type { Meter } from "./meter.ts";

/** The part of the RE2 engine that checks use. */
export interface PatternEngine {
  compile(source: string): RE2JS;
}

/** The cost of compiling one instruction of a pattern, in steps of a check. */
const stepsPerInstruction = 200;

let loaded: PatternEngine | undefined;

/**
 * Returns the engine, or undefined before `loadPatternEngine` has resolved: most tools have no pattern and
 * never load it.
 */
export function loadedPatternEngine(): PatternEngine | undefined {
  return loaded;
}

export async function loadPatternEngine(): Promise<PatternEngine> {
  const { RE2JS } = await import("re2js");
  loaded = RE2JS;
  return loaded;
}

/**
 * Creates a test that takes time in proportion to the text and spends steps for it. A pattern that the
 * engine refuses accepts every text, and the server checks it.
 */
export function createPatternTest(
  pattern: LinearPattern,
  engine: PatternEngine,
  meter: Meter,
): (text: string) => boolean {
  let compiled: Pick<RE2JS, "test"> | undefined;
  const stepsPerCharacter = Math.ceil(pattern.size / 2);
  return (text) => {
    if (compiled === undefined) {
      meter.spend(pattern.size * stepsPerInstruction);
      compiled = compile(pattern.source, engine);
    }
    meter.spend(2 + text.length * stepsPerCharacter);
    return compiled.test(text);
  };
}

function compile(source: string, engine: PatternEngine): Pick<RE2JS, "test"> {
  try {
    return engine.compile(source);
  } catch {
    return { test: () => true };
  }
}
