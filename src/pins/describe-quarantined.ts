import { maxPinsPerServer } from "../config/keys/limits.ts";
import { compareDefinitions } from "./compare-definitions.ts";
import { inspectDefinition } from "./inspect-definition.ts";
import type { QuarantinedDefinition } from "./pin-tools.ts";
import type { QuarantinedTool } from "./pins.ts";

export interface QuarantineQuestion {
  readonly server: string;
  readonly tool: string;
  readonly current: QuarantinedDefinition;
  /** The definition that was accepted before; undefined for a new tool, and where it was too large to be kept. */
  readonly accepted: unknown;
  /** Nothing is cut, however long. */
  readonly isWhole?: boolean | undefined;
}

/** Describes a quarantined tool for the person who is to accept it; every text is safe to show. */
export async function describeQuarantined({
  server,
  tool,
  current,
  accepted,
  isWhole,
}: QuarantineQuestion): Promise<QuarantinedTool> {
  const { definition, fingerprint, reason } = current;
  // Without an accepted definition everything is shown: nobody can judge what they cannot see.
  const difference = await compareDefinitions(accepted ?? {}, definition, { isWhole });
  const isComplete = difference.omittedChanges === 0 && difference.omittedChars === 0;
  return {
    server,
    tool,
    reason,
    fingerprint: isComplete ? fingerprint : undefined,
    isCompared: accepted !== undefined,
    ...difference,
    findings: await findingsOf(definition, reason),
  };
}

/** A new definition in which nothing is found is quarantined only because its server has named too many tools. */
async function findingsOf(
  definition: unknown,
  reason: QuarantinedDefinition["reason"],
): Promise<readonly string[]> {
  const findings = await inspectDefinition(definition);
  if (findings.length > 0 || reason === "changed") return findings;
  return [`its server has named more than ${maxPinsPerServer} tools`];
}
