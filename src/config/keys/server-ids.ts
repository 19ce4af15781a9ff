import type { ServerConfig } from "./server-config.ts";

declare const idKind: unique symbol;

/** A text that only `approval/launch-facts.ts`, and the store that keeps what it gave, may call an id. */
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

/** Whether the ids mean the same in another host: a transport object, or a mere list of tools, cannot be recognized. */
export function hasLastingIds({ transport }: ServerConfig): boolean {
  return transport.kind !== "memory" && transport.kind !== "none";
}
