import { neutralizeLine } from "../text/neutralize.ts";
import { redact } from "../text/redact.ts";
import { truncate } from "../text/truncate.ts";

/** Text from a server as a message may quote it: one line, harmless, without credentials, bounded. */
export function serverText(text: string, limit = 300): string {
  // Cut first as well: the patterns behind `redact` must not run over megabytes.
  return truncate(redact(neutralizeLine(truncate(text, limit * 4))), limit);
}
