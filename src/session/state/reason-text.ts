import { serverText } from "../../text/bounded-text.ts";

const maxReasonText = 500;

/** Why something of the program failed, in one line that may be shown: what it threw was written by anybody. */
export function reasonText(thrown: unknown): string {
  const reason = thrown instanceof Error ? thrown.message : "unknown reason";
  return serverText(reason, maxReasonText);
}
