import { revealAll } from "../../text/secrets/secret-text.ts";
import { parseServerEntry } from "../parse/parse-config.ts";
import { toJson } from "../parse/to-json.ts";

/**
 * Converts input to an entry as a file or a row of the store holds it. A `ServerConfig` becomes an entry
 * again, with its secrets written out: a stored entry without them would not work.
 */
export function writableEntry(name: string, entry: object): Readonly<Record<string, unknown>> {
  if (!("provenance" in entry)) return revealAll(entry) as Readonly<Record<string, unknown>>;
  const { name: _name, ...written } = toJson(parseServerEntry(name, entry), { secrets: "keep" });
  return written;
}
