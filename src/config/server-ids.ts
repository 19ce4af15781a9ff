import { canonicalHash } from "../text/canonical-hash.ts";
import { type LaunchFacts, namingKeys } from "./launch-facts.ts";
import { isOfProject, type Provenance, type ServerConfig } from "./server-config.ts";

declare const idKind: unique symbol;

/** Text that only the functions of this file, and the store that keeps what they gave, may call an id. */
type Id<Kind extends string> = string & { readonly [idKind]: Kind };

/** Names an entry as it is written, on any machine. The registry finds approvals of the entry by it. */
export type EntryId = Id<"entry">;

/**
 * Names what is started or contacted. Grants, pins and the known catalog are bound to it: an entry that
 * starts something else is a stranger; another server name, other tool names or another file behind the
 * command make none.
 */
export type ConsentId = Id<"consent">;

/** Names one launch on this machine: the entry, its folder and the file behind its command. An approval is bound to it. */
export type LaunchId = Id<"launch">;

const placeAndNaming: ReadonlySet<string> = new Set([
  "commandPath",
  "folder",
  "workspaceFolder",
  ...namingKeys,
]);

export function entryIdOf(facts: LaunchFacts): EntryId {
  const { commandPath: _file, folder: _folder, workspaceFolder: _workspace, ...entry } = facts;
  return canonicalHash(entry) as EntryId;
}

/**
 * A program of a project is another one in another project, even where both entries read the same: what
 * they name lies beside the file.
 */
export function consentIdOf(facts: LaunchFacts, { layer, path }: Provenance): ConsentId {
  const started = Object.entries(facts).filter(([name]) => !placeAndNaming.has(name));
  const identity = canonicalHash(Object.fromEntries(started));
  const isProgramOfProject = isOfProject({ layer }) && facts["kind"] === "stdio";
  const id = isProgramOfProject ? canonicalHash({ identity, file: path ?? "" }) : identity;
  return id as ConsentId;
}

/** The facts have to name the place of the launch. */
export function launchIdOf(facts: LaunchFacts): LaunchId {
  return canonicalHash(facts) as LaunchId;
}

/** Whether the ids mean the same another time: a transport object, or a mere list of tools, cannot be recognized. */
export function hasLastingIds({ transport }: ServerConfig): boolean {
  return transport.kind !== "memory" && transport.kind !== "none";
}
