import { TimeSlice } from "../async/time-slice.ts";
import { boundedLine } from "../text/untrusted/bounded-text.ts";
import { findInstructionSigns, piecesOf } from "../text/untrusted/instruction-signs.ts";

/** Bound on keys and texts that are read: several times as many as the largest tool of a published server has. */
const maxTexts = 10_000;
/** Further findings tell a person nothing new. */
const maxFindings = 20;
const maxRemembered = 10_000;

interface FoundText {
  /** The keys that lead to the text. The search goes on changing this list. */
  readonly path: readonly string[];
  readonly text: string;
}

/**
 * Finds what reads like an attack on the model in a tool's definition, and says so in plain words with the
 * place; also that there are more texts than are read. An empty answer promises nothing: this is a first
 * look, before the pin and the person. Other work gets its turn while a long definition is read.
 */
export async function inspectDefinition(definition: unknown): Promise<readonly string[]> {
  const findings: string[] = [];
  const slice = new TimeSlice();
  let count = 0;
  for (const { path, text } of textsIn(definition, [])) {
    count += 1;
    if (count > maxTexts) {
      findings.push(`more than ${maxTexts} texts, which could not all be looked through`);
      return findings;
    }
    const signs = new Set<string>();
    for (const piece of piecesOf(text)) {
      if (slice.isOver) await slice.next();
      for (const sign of findInstructionSigns(piece)) signs.add(sign);
    }
    for (const sign of signs) findings.push(`${placeOf(path)}: ${sign}`);
    if (findings.length >= maxFindings) return [...findings, "perhaps more in other places"];
  }
  return findings;
}

/**
 * Tells whether a definition reads well, and inspects each definition once: many servers list the same
 * tools, and every server lists its own again and again.
 */
export function createInspector(): (fingerprint: string, definition: unknown) => Promise<boolean> {
  const remembered = new Map<string, boolean>();
  return async (fingerprint, definition) => {
    const known = remembered.get(fingerprint);
    if (known !== undefined) return known;
    const readsWell = (await inspectDefinition(definition)).length === 0;
    remembered.set(fingerprint, readsWell);
    const [oldest] = remembered.keys();
    if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest);
    return readsWell;
  };
}

function* textsIn(value: unknown, path: string[]): Generator<FoundText> {
  if (typeof value === "string") {
    yield { path, text: value };
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const isList = Array.isArray(value);
  for (const key of Object.keys(value)) {
    path.push(key);
    // The name of a parameter reaches the model as its description does.
    if (!isList) yield { path, text: key };
    yield* textsIn((value as Readonly<Record<string, unknown>>)[key], path);
    path.pop();
  }
}

/** Writes the place of a text; the server chose its keys, so they are cut and neutralized. */
function placeOf(path: readonly string[]): string {
  return path.map((key) => boundedLine(key, 64)).join(".");
}
