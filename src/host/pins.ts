import type { DefinitionChange } from "../policy/compare-definitions.ts";

/** A tool that is not offered to any agent until a person has looked at it. */
export interface QuarantinedTool {
  readonly server: string;
  /** The tool's own name. */
  readonly tool: string;
  /** `changed`: not what it was when it was accepted. `suspect`: new, and it reads like an attack. */
  readonly reason: "changed" | "suspect";
  /** Of the definition it has now: what accepting it accepts. */
  readonly fingerprint: string;
  /** What is different; of a new one, all there is. */
  readonly changes: readonly DefinitionChange[];
  /** What reads like an attack, in plain words. */
  readonly findings: readonly string[];
}

/** The definitions that were accepted, and what waits to be. */
export interface Pins {
  /** Every text in it is safe to show. */
  list(server?: string): Promise<readonly QuarantinedTool[]>;
  /**
   * Accepts the definition with this fingerprint, as it was shown; false when the tool is defined
   * differently by now. Grants given for another definition stay void.
   */
  accept(server: string, tool: string, fingerprint: string): Promise<boolean>;
}
