import { untrustedText } from "../text/untrusted/untrusted-text.ts";
import { checkOutcome, type Outcome } from "./outcome.ts";

/** What a model is given of an outcome: its text, quoted where it carries signs of instructions. */
export function modelText(outcome: Outcome): string {
  checkOutcome("modelText", outcome);
  const text = outcome.ok ? outcome.text : outcome.error.message;
  return untrustedText(text, outcome.serverName ?? outcome.publicName);
}
