import type { Difference } from "./compare.ts";

/** A difference that is meant, or that is the SDK's own affair. */
export interface Rule {
  readonly id: string;
  /** What each of the two does, as a sentence. */
  readonly difference: string;
  readonly reason: string;
  /** Whose way the specification, or where it is silent our purpose, supports. */
  readonly right: "core" | "sdk" | "either";
  /** True only for exactly this difference, judged by what the server said and what each made of it. */
  explains(difference: Difference): boolean;
}
