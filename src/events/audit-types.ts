import type { HostEventType } from "./host-event.ts";

/**
 * The events that the audit trail records: decisions. Calls and uses of content are entries of their own, which know
 * more than their events tell.
 */
export const recordedEvents = [
  "consent-granted",
  "consent-denied",
  "consent-mode-set",
  "consent-ended",
  "grant-added",
  "grant-revoked",
  "launch-approved",
  "launch-denied",
  "launch-revoked",
  "signed-in",
  "signed-out",
  "tool-quarantined",
  "tool-accepted",
  "request-answered",
] as const satisfies readonly HostEventType[];

/** Every type of entry in the audit trail. */
export const auditTypes: readonly string[] = ["call", "content", ...recordedEvents, "entries-lost"];
