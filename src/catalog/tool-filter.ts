import type { ServerConfig } from "../config/keys/server-config.ts";
import { closest } from "../text/closest.ts";
import { neutralizeLine } from "../text/untrusted/neutralize.ts";

/** Original names: what the server calls its tools. */
export type ToolFilter = Partial<Pick<ServerConfig, "enabledTools" | "disabledTools">>;

export interface FilteredTools<T> {
  /** In the order given. */
  readonly kept: readonly T[];
  /** In plain words: entries of the filter that match no tool, most likely typing mistakes. */
  readonly warnings: readonly string[];
}

/** The allow list first (absent = all, empty = none), then the block list: a tool in both is out. */
export function isToolAllowed(name: string, { enabledTools, disabledTools }: ToolFilter): boolean {
  if (enabledTools !== undefined && !hasName(enabledTools, name)) return false;
  return disabledTools === undefined || !hasName(disabledTools, name);
}

/** The lists of entries as sets: a long list is asked about as many tools. */
const nameSets = new WeakMap<readonly string[], ReadonlySet<string>>();

function hasName(names: readonly string[], name: string): boolean {
  if (names.length < 16) return names.includes(name);
  let set = nameSets.get(names);
  if (set === undefined) {
    set = new Set(names);
    nameSets.set(names, set);
  }
  return set.has(name);
}

/** What is left out here is nowhere else: a filtered tool cannot be called even by its exact name. */
export function filterTools<T extends { readonly name: string }>(
  tools: readonly T[],
  filter: ToolFilter,
): FilteredTools<T> {
  const kept = tools.filter(({ name }) => isToolAllowed(name, filter));
  const known = new Set(tools.map(({ name }) => name));
  const warnings = (["enabledTools", "disabledTools"] as const).flatMap((list) =>
    (filter[list] ?? [])
      .filter((name) => !known.has(name))
      .map((name) => unmatched(list, name, known)),
  );
  return { kept, warnings };
}

function unmatched(list: string, name: string, known: ReadonlySet<string>): string {
  const near = closest(name, known).map((candidate) => neutralizeLine(candidate));
  const hint = near.length === 0 ? "" : `. Closest: ${near.join(", ")}`;
  return `${list} names "${neutralizeLine(name)}", which the server does not offer${hint}`;
}
