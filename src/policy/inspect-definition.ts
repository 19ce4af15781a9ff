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
  // Every list of every server comes through here, and there is hardly ever anything to say.
  const path: string[] = [];
  let count = 0;
  const judge = (text: string): void => {
    for (const sign of findInstructionSigns(text)) findings.push(`${placeOf(path)}: ${sign}`);
  };
  const visit = (value: unknown): void => {
    if (count >= maxTexts) return;
    if (typeof value === "string") {
      count += 1;
      judge(value);
    } else if (typeof value === "object" && value !== null) {
      for (const key of Object.keys(value)) {
        path.push(key);
        // The name of a parameter reaches the model as its description does.
        judge(key);
        visit((value as Readonly<Record<string, unknown>>)[key]);
        path.pop();
      }
    }
  };
  visit(definition);
  return findings;
}

/** Where in a definition something is; its keys are the server's to choose. */
export function placeOf(path: readonly string[]): string {
  return path.map((key) => truncate(neutralizeLine(key), 64)).join(".");
}
