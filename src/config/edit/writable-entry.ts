import { revealAll } from "../../text/secrets/secret-text.ts";
import { parseServerEntry } from "../parse/parse-config.ts";
import { toJson } from "../parse/to-json.ts";

/**
 * An entry as a file or a row of the store holds it. A `ServerConfig` that is handed back becomes an
 * entry again; secrets are written out, because that is what writing an entry asks for.
 */
export function writableEntry(name: string, entry: object): Readonly<Record<string, unknown>> {
  if (!("provenance" in entry)) return revealAll(entry) as Readonly<Record<string, unknown>>;
  const { name: _name, ...written } = toJson(parseServerEntry(name, entry), { secrets: "keep" });
  return written;
}
