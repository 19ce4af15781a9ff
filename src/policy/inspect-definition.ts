import { findInstructionSigns } from "../text/instruction-signs.ts";
import { neutralizeLine } from "../text/neutralize.ts";
import { truncate } from "../text/truncate.ts";

/** More text than any honest tool has; the rest is covered by the pin, not by the reading. */
const maxTexts = 2_000;

/**
 * What in a tool's definition reads like an attack on the model, in plain words with the place. An
 * empty answer promises nothing: it is a first look, and the pin and the person come after it.
 */
export function inspectDefinition(definition: unknown): readonly string[] {
  const findings: string[] = [];
  let count = 0;
  const visit = (value: unknown, path: string): void => {
    if (count >= maxTexts) return;
    if (typeof value === "string") {
      count += 1;
      for (const sign of findInstructionSigns(value)) findings.push(`${path}: ${sign}`);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        const place = truncate(neutralizeLine(key), 64);
        // The name of a parameter reaches the model as its description does.
        for (const sign of findInstructionSigns(key)) findings.push(`${path}.${place}: ${sign}`);
        visit(inner, path === "" ? place : `${path}.${place}`);
      }
    }
  };
  visit(definition, "");
  return findings;
}
