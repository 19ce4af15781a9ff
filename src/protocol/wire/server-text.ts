import { boundedLine } from "../../text/bounded-text.ts";
import { redact } from "../../text/redact.ts";
import { truncate } from "../../text/truncate.ts";

/** Text from a server as a message may quote it: one line, harmless, without credentials, bounded. */
export function serverText(text: string, limit = 300): string {
  // More than is shown: a credential that is cut in the middle has no shape to recognise it by.
  return truncate(redact(boundedLine(text, limit * 4)), limit);
}
