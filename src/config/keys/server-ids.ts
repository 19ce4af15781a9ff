import type { ServerConfig } from "./server-config.ts";

declare const idKind: unique symbol;

/** A branded string. Only `approval/launch-facts.ts` makes ids, and the store reads back the ones it kept. */
type Id<Kind extends string> = string & { readonly [idKind]: Kind };

/** Identifies an entry as it is written, on any machine. The registry finds approvals of the entry by it. */
export type EntryId = Id<"entry">;

/**
 * Identifies the program or address behind an entry. Grants, pins and the known catalog are bound to it. An
 * entry that starts another program gets another id; another server name, other tool names or another file
 * behind the command do not change it.
 */
export type ConsentId = Id<"consent">;

/**
 * Identifies one launch on this machine: the entry, its folder and the file behind its command. An
 * approval is bound to it.
 */
export type LaunchId = Id<"launch">;

/**
 * Whether the ids of a server are valid in another host; those of a transport object or a mere list of
 * tools are not.
 */
export function hasLastingIds({ transport }: ServerConfig): boolean {
  return transport.kind !== "memory" && transport.kind !== "none";
}
