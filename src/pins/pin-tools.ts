import { TimeSlice } from "../async/time-slice.ts";
import { maxPinsPerServer } from "../config/keys/limits.ts";
import type { ListedTool } from "../protocol/protocol-client.ts";
import { definitionOfTool, fingerprintOf, isFingerprinted } from "./tool-fingerprint.ts";

const maxUnlistedDefinitions = 100;

/** A pin: the definition of a tool that may be called. */
export interface AcceptedDefinition {
  readonly fingerprint: string;
  /** Absent when the pin was read from the store, which has the definition, or when it is of a tool long gone. */
  readonly definition?: unknown;
}

/** A definition that no agent is offered before a person accepts it. */
export interface QuarantinedDefinition {
  readonly fingerprint: string;
  readonly reason: "changed" | "suspect";
  readonly definition: unknown;
}

export interface PinnedTools {
  /** The pins from before and those this list adds, by tool name. */
  readonly accepted: Map<string, AcceptedDefinition>;
  /** Tools that differ from their pin or are not to be trusted from the start, by name. */
  readonly quarantined: Map<string, QuarantinedDefinition>;
  /** Tools that were seen for the first time and are accepted. */
  readonly fresh: readonly ListedTool[];
}

/**
 * Compares a list of tools with the pins of its server. A new tool is accepted if its definition reads
 * well and its server has not named too many; a known tool is accepted if its definition is the pinned
 * one. Other work gets its turn while a long list is compared.
 */
export async function pinTools(
  listed: readonly ListedTool[],
  acceptedBefore: Iterable<readonly [name: string, pin: AcceptedDefinition]>,
  readsWell: (fingerprint: string, definition: unknown) => boolean | Promise<boolean>,
): Promise<PinnedTools> {
  const accepted = new Map(acceptedBefore);
  const quarantined = new Map<string, QuarantinedDefinition>();
  const fresh: ListedTool[] = [];
  const seen = new Set<string>();
  const slice = new TimeSlice();
  for (const tool of listed) {
    // Nothing else takes long.
    if (!isFingerprinted(tool) && slice.isOver) await slice.next();
    // Of a name that is listed twice only the first is ever offered.
    if (seen.has(tool.name)) continue;
    seen.add(tool.name);
    const fingerprint = fingerprintOf(tool);
    const pin = accepted.get(tool.name);
    if (pin?.fingerprint === fingerprint) continue;
    const definition = definitionOfTool(tool);
    const hasRoom = accepted.size < maxPinsPerServer;
    if (pin === undefined && hasRoom && (await readsWell(fingerprint, definition))) {
      accepted.set(tool.name, { fingerprint, definition });
      fresh.push(tool);
    } else {
      const reason = pin === undefined ? "suspect" : "changed";
      quarantined.set(tool.name, { fingerprint, reason, definition });
    }
  }
  forgetUnlisted(accepted, seen);
  return { accepted, quarantined, fresh };
}

/**
 * Drops definitions of tools that are no longer listed, beyond a few. They only serve to show what has
 * changed, and a server that drops its tools would decide how many are held.
 */
function forgetUnlisted(
  accepted: Map<string, AcceptedDefinition>,
  listed: ReadonlySet<string>,
): void {
  let kept = 0;
  for (const [name, { fingerprint, definition }] of accepted) {
    if (definition === undefined || listed.has(name)) continue;
    kept += 1;
    if (kept > maxUnlistedDefinitions) accepted.set(name, { fingerprint });
  }
}
