import type { DefinitionDifference } from "./compare-definitions.ts";

/** A tool that is not offered to any agent until a person has looked at it. */
export interface QuarantinedTool extends DefinitionDifference {
  readonly server: string;
  /** The tool's own name. */
  readonly tool: string;
  /** `changed`: not what it was when it was accepted. `suspect`: new, and it reads like an attack. */
  readonly reason: "changed" | "suspect";
  /**
   * Of the definition it has now: what accepting it accepts. Undefined while something of the difference
   * is not shown, because nobody can accept what was not shown: `show` has it.
   */
  readonly fingerprint: string | undefined;
  /**
   * Whether `changes` says what is different. Otherwise it is all there is: of a new tool, and of one whose
   * accepted definition was too large to be kept.
   */
  readonly isCompared: boolean;
  /** What reads like an attack, in plain words. */
  readonly findings: readonly string[];
}

/** The definitions that were accepted, and what waits to be. */
export interface Pins {
  /** Every text in it is safe to show; long ones are cut. */
  list(server?: string): Promise<readonly QuarantinedTool[]>;
  /** One of them with nothing cut, however long; undefined when there is no such tool, or it does not wait. */
  show(server: string, tool: string): Promise<QuarantinedTool | undefined>;
  /**
   * Accepts the definition with this fingerprint, as it was shown; false when the tool is defined
   * differently by now. Grants given for another definition stay void.
   */
  accept(server: string, tool: string, fingerprint: string): Promise<boolean>;
}
