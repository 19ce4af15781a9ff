import { callFor, conversation, done } from "./curated/conversation.ts";
import type { Transcript } from "./transcript.ts";

/** A difference in which the core is wrong or not finished. */
export interface Defect {
  readonly id: string;
  readonly difference: string;
  readonly transcript: Transcript;
}

/** Known and open: none of them may hide behind a rule, and one that is mended must leave this list. */
export const defects: readonly Defect[] = [
  {
    id: "odd-error-flag-is-success",
    difference:
      'A tool result with `isError: "true"` or `isError: 1` counts as a success in the core; the SDK refuses it. A failed call must never look as if it had worked.',
    transcript: conversation("an error flag of the wrong type", "legacy", (script) => {
      callFor(script, { ...done, isError: "true" });
    }),
  },
];
