import type { DefinitionDifference } from "./compare-definitions.ts";

/** A tool that is not offered to any agent until a person has looked at it. */
export interface QuarantinedTool extends DefinitionDifference {
  readonly server: string;
  /** The tool's own name. */
  readonly tool: string;
  /** `changed`: not what it was when it was accepted. `suspect`: new, and it reads like an attack. */
  readonly reason: "changed" | "suspect";
  /**
   * The fingerprint of the definition it has now, which `accept` takes. Undefined while part of the
   * difference is not shown, because nobody can accept what was not shown: `show` gives all of it.
   */
  readonly fingerprint: string | undefined;
  /**
   * Whether `changes` is a difference. Otherwise it is the whole definition: of a new tool, or of one whose
   * accepted definition was too large to be kept.
   */
  readonly isCompared: boolean;
  /** What reads like an attack, in plain words. */
  readonly findings: readonly string[];
}

/** The tools that wait for a person, and the way to accept them. */
export interface Pins {
  /** Lists the quarantined tools. Every text is safe to show; long ones are cut. */
  list(server?: string): Promise<readonly QuarantinedTool[]>;
  /** Shows one quarantined tool with nothing cut, however long; undefined when no such tool is quarantined. */
  show(server: string, tool: string): Promise<QuarantinedTool | undefined>;
  /**
   * Accepts the definition with this fingerprint, as it was shown; false when the tool is defined
   * differently by now. Grants given for another definition stay void.
   */
  accept(server: string, tool: string, fingerprint: string): Promise<boolean>;
}
