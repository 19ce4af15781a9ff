import { TimeSlice } from "../ports/time-slice.ts";
import { boundedLine } from "../text/bounded-text.ts";
import { findInstructionSigns, piecesOf } from "../text/instruction-signs.ts";

/** Keys and texts: several times as many as the largest tool of a published server has. */
const maxTexts = 10_000;
/** A definition that reads like an attack in so many places has been told often enough. */
const maxFindings = 20;

interface FoundText {
  /** Keys on the way to it. The list changes as the search goes on. */
  readonly path: readonly string[];
  readonly text: string;
}

/**
 * What in a tool's definition reads like an attack on the model, in plain words with the place; also that
 * it has more texts than are read. An empty answer promises nothing: it is a first look, and the pin and the
 * person come after it. Other work gets its turn while a long definition is read.
 */
export async function inspectDefinition(definition: unknown): Promise<readonly string[]> {
  // Every list of every server comes through here, and there is hardly ever anything to say.
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

/** Where in a definition something is; its keys are the server's to choose. */
function placeOf(path: readonly string[]): string {
  return path.map((key) => boundedLine(key, 64)).join(".");
}
