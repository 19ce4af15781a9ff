import { maxPinsPerServer } from "../policy/pin-limits.ts";
import { TimeSlice } from "../ports/time-slice.ts";
import type { ListedTool } from "../protocol/protocol-client.ts";
import { definitionOfTool, fingerprintOf } from "./tool-fingerprint.ts";

const maxUnlistedDefinitions = 100;

export interface AcceptedTool {
  readonly fingerprint: string;
  /** Absent when it was pinned by another host or an earlier one, or long ago: the store has it then. */
  readonly definition?: unknown;
}

export interface WaitingTool {
  readonly fingerprint: string;
  readonly reason: "changed" | "suspect";
  readonly definition: unknown;
}

export interface JudgedTools {
  /** What was accepted before, and what is from now on. */
  readonly accepted: Map<string, AcceptedTool>;
  /** Not as it was, or not to be trusted from the start; by name. */
  readonly waiting: Map<string, WaitingTool>;
  /** Those that are accepted by this look at them. */
  readonly fresh: readonly ListedTool[];
}

/**
 * Holds a list to what was accepted of it before: a tool that is new is accepted if its definition reads
 * well and its server has not named too many, one that is known if it is what it was. A long list does not
 * hold up other work.
 */
export async function judgeTools(
  listed: readonly ListedTool[],
  acceptedBefore: Iterable<readonly [name: string, tool: AcceptedTool]>,
  readsWell: (fingerprint: string, definition: unknown) => boolean | Promise<boolean>,
): Promise<JudgedTools> {
  const accepted = new Map(acceptedBefore);
  const waiting = new Map<string, WaitingTool>();
  const fresh: ListedTool[] = [];
  const seen = new Set<string>();
  const slice = new TimeSlice();
  for (const tool of listed) {
    if (slice.isOver) await slice.next();
    // Of a name that is listed twice only the first is ever offered.
    if (seen.has(tool.name)) continue;
    seen.add(tool.name);
    const fingerprint = fingerprintOf(tool);
    const pinned = accepted.get(tool.name);
    if (pinned?.fingerprint === fingerprint) continue;
    const definition = definitionOfTool(tool);
    const hasRoom = accepted.size < maxPinsPerServer;
    if (pinned === undefined && hasRoom && (await readsWell(fingerprint, definition))) {
      accepted.set(tool.name, { fingerprint, definition });
      fresh.push(tool);
    } else {
      const reason = pinned === undefined ? "suspect" : "changed";
      waiting.set(tool.name, { fingerprint, reason, definition });
    }
  }
  forgetUnlisted(accepted, seen);
  return { accepted, waiting, fresh };
}

/** Definitions are for showing what has changed; a server that drops its tools decides how many there would be. */
function forgetUnlisted(accepted: Map<string, AcceptedTool>, listed: ReadonlySet<string>): void {
  let kept = 0;
  for (const [name, { fingerprint, definition }] of accepted) {
    if (definition === undefined || listed.has(name)) continue;
    kept += 1;
    if (kept > maxUnlistedDefinitions) accepted.set(name, { fingerprint });
  }
}
