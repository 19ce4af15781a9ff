import { boundedLine } from "../text/untrusted/bounded-text.ts";
import {
  appendHash,
  hashLength,
  maxNameLength,
  type Naming,
  namingServer,
  type NamingOptions,
  namingStrategy,
  originHash,
} from "./tool-names.ts";
import type { ToolOrigin } from "./tool-origin.ts";

export interface NameEntry extends ToolOrigin {
  /** The tool's name on the server. */
  readonly tool: string;
  /** For `prefix_tool`; the server's name when absent. */
  readonly prefix?: string | undefined;
  readonly naming?: Naming | undefined;
  /** Its entry was written by whoever wrote the project: it takes no name from one that the user wrote. */
  readonly isOfProject?: boolean | undefined;
}

/** Where a tool stands among all that are named; the place may change without the tool. */
export interface NamePlace {
  order: number;
}

/** A tool that has a public name, or is about to get one. */
export interface NamedCandidate {
  readonly origin: ToolOrigin;
  readonly isOfProject: boolean;
  /** The name it has unless somebody else's could be taken for it. */
  readonly base: string;
  /** Its place is that of its server, and then its own there. */
  readonly place: NamePlace;
  readonly index: number;
  /** Its public name; empty before it was settled for the first time. */
  name: string;
  /** The names with longer and longer hashes, as far as they were needed. */
  hashed: string[] | undefined;
}

export interface NameWarning {
  readonly kind: "collision" | "reserved" | "duplicate" | "case";
  readonly text: string;
  readonly about: readonly NamedCandidate[];
  /** The native tool it is about, if there is one. */
  readonly native?: string | undefined;
}

export interface SettledNames {
  /** Those whose name is another one than before. */
  readonly renamed: readonly NamedCandidate[];
  readonly warnings: readonly NameWarning[];
}

/** How many digits of its hash a name carries, the longer ones only if the shorter are taken. */
const hashLevels = [0, hashLength, 16, 32, 48] as const;

export function nameCandidate(
  entry: NameEntry,
  place: NamePlace,
  index: number,
  options: NamingOptions = {},
): NamedCandidate {
  const { server, tool, prefix, naming = "mcp__server__tool", isOfProject = false } = entry;
  const base = namingStrategy(naming, options).build(namingServer(server, prefix, naming), tool);
  return { origin: { server, tool }, isOfProject, base, place, index, name: "", hashed: undefined };
}

/**
 * Gives every tool a valid and unique public name. A name depends on the tool's own origin; tools whose names
 * would be equal all get a hash of theirs, so that neither the order of servers nor a later one can hand a known
 * name to another tool. A tool of a project is different: it has a hash wherever its name could be one of a server
 * that the user wrote, and that one keeps its name. Tools come and go one by one; only names that somebody else
 * could have are decided again.
 */
export class PublicNames {
  readonly #bases = new Buckets();
  /** By name in lower case. */
  readonly #folded = new Buckets();
  readonly #ofProjects = new Set<NamedCandidate>();
  /** Tools of projects whose name could be one of a server that the user wrote. */
  readonly #left = new Set<NamedCandidate>();
  #usersOwn = new Starts([]);
  /** Those that came since names were last settled. */
  readonly #fresh = new Set<NamedCandidate>();
  /** Those whose name is not their base. */
  #hashed: ReadonlySet<NamedCandidate> = new Set();
  /** Every name that was considered for those that clash. */
  #considered: ReadonlySet<string> = new Set();

  add(candidate: NamedCandidate): void {
    this.#fresh.add(candidate);
    this.#bases.add(candidate.base, candidate);
    if (!candidate.isOfProject) return;
    this.#ofProjects.add(candidate);
    if (this.#usersOwn.begin(candidate.base)) this.#left.add(candidate);
  }

  remove(candidate: NamedCandidate): void {
    this.#fresh.delete(candidate);
    this.#ofProjects.delete(candidate);
    this.#left.delete(candidate);
    this.#bases.delete(candidate.base, candidate);
    this.#folded.delete(candidate.name.toLowerCase(), candidate);
  }

  /** What names of the user's own servers begin with, also of servers whose tools are not known yet. */
  setUsersOwn(starts: Iterable<string>): void {
    const usersOwn = new Starts(starts);
    if (usersOwn.equals(this.#usersOwn)) return;
    this.#usersOwn = usersOwn;
    this.#left.clear();
    for (const candidate of this.#ofProjects)
      if (usersOwn.begin(candidate.base)) this.#left.add(candidate);
  }

  /** Whether no name would be another one, and no warning, if a native tool had this name. */
  isFree(native: string): boolean {
    return (
      !this.#bases.has(native) &&
      !this.#considered.has(native) &&
      !this.#folded.has(native.toLowerCase())
    );
  }

  /** Decides the names of all tools; `reserved` are names of native tools, which no server may take. */
  settle(reserved: ReadonlySet<string> = new Set()): SettledNames {
    const warnings = this.#leftWarnings();
    const levels = this.#levelsOf(reserved, warnings);
    const hashed = new Set<NamedCandidate>();
    const renamed: NamedCandidate[] = [];
    for (const candidate of new Set([...levels.keys(), ...this.#hashed, ...this.#fresh])) {
      if (!this.#bases.holds(candidate.base, candidate)) continue;
      const name = nameAt(candidate, levels.get(candidate) ?? 0);
      if (name !== candidate.base) hashed.add(candidate);
      if (name === candidate.name) continue;
      this.#folded.delete(candidate.name.toLowerCase(), candidate);
      candidate.name = name;
      this.#folded.add(name.toLowerCase(), candidate);
      renamed.push(candidate);
    }
    this.#hashed = hashed;
    this.#fresh.clear();
    warnings.push(...this.#caseWarnings(reserved));
    return { renamed, warnings };
  }

  /** The hash level of each tool whose name is considered by somebody else, too. All others have their base. */
  #levelsOf(
    reserved: ReadonlySet<string>,
    warnings: NameWarning[],
  ): ReadonlyMap<NamedCandidate, number> {
    const levels = new Map<NamedCandidate, number>();
    const considered = new Set<string>();
    for (const base of [...this.#bases.shared, ...reserved])
      for (const candidate of this.#bases.get(base)) levels.set(candidate, 0);
    for (const candidate of this.#left) levels.set(candidate, 1);
    for (let round = 0; round < hashLevels.length; round += 1) {
      const clashes = this.#clashes(levels, reserved);
      for (const [candidate, level] of levels) considered.add(nameAt(candidate, level));
      if (clashes.length === 0) break;
      for (const { name, group } of clashes) {
        const keeper = reserved.has(name) ? undefined : keeperOf(group);
        if (round === 0) warnings.push(clashWarning(group, keeper, reserved));
        for (const candidate of group)
          if (candidate !== keeper) levels.set(candidate, raised(levels.get(candidate)));
      }
    }
    this.#considered = considered;
    return levels;
  }

  /** Also takes in those that had their base to themselves until a name with a hash became equal to it. */
  #clashes(
    levels: Map<NamedCandidate, number>,
    reserved: ReadonlySet<string>,
  ): readonly { readonly name: string; readonly group: readonly NamedCandidate[] }[] {
    const groups = groupBy(levels.keys(), (one) => nameAt(one, levels.get(one) ?? 0));
    for (const [name, group] of groups)
      for (const candidate of this.#bases.get(name)) {
        if (levels.has(candidate)) continue;
        levels.set(candidate, 0);
        group.push(candidate);
      }
    const clashes = [...groups]
      .filter(([name, group]) => group.length > 1 || reserved.has(name))
      .map(([name, group]) => ({ name, group: group.toSorted(byPlace) }));
    return clashes.toSorted((one, other) => byPlace(one.group[0], other.group[0]));
  }

  #leftWarnings(): NameWarning[] {
    const servers = groupBy([...this.#left].toSorted(byPlace), ({ origin }) => origin.server);
    return [...servers].map(([server, about]) => ({
      kind: "collision",
      text: `tools of ${quote(server)} would be named like those of another server, such as ${about[0]?.base}; a hash was added to each name`,
      about,
    }));
  }

  /** Providers tell `Query` from `query`; people and models easily do not. */
  #caseWarnings(reserved: ReadonlySet<string>): readonly NameWarning[] {
    const natives = new Map([...reserved].map((name) => [name.toLowerCase(), name]));
    const groups = [...new Set([...this.#folded.shared, ...natives.keys()])]
      .map((lower) => ({ lower, about: [...this.#folded.get(lower)].toSorted(byPlace) }))
      .filter(({ about }) => about.length > 0)
      .toSorted((one, other) => byPlace(one.about[0], other.about[0]));
    return groups.map(({ lower, about }) => {
      const native = natives.get(lower);
      const names = [...(native === undefined ? [] : [native]), ...about.map(({ name }) => name)];
      const text = `${names.slice(0, 5).join(", ")} differ only in upper and lower case`;
      return { kind: "case", text, about, native };
    });
  }
}

export interface AssignOptions extends NamingOptions {
  /** Names of native tools, which no server may take. */
  readonly reserved?: Iterable<string> | undefined;
  /** See `PublicNames.setUsersOwn`. */
  readonly usersOwn?: Iterable<string> | undefined;
}

export interface AssignedNames {
  /** In the order of the entries; undefined for a tool that its server lists a second time. */
  readonly names: readonly (string | undefined)[];
  readonly warnings: readonly AssignedWarning[];
}

export interface AssignedWarning extends Omit<NameWarning, "about"> {
  /** Positions of the entries it is about. */
  readonly entries: readonly number[];
}

/** Names a list of tools at once. */
export function assignPublicNames(
  entries: readonly NameEntry[],
  options: AssignOptions = {},
): AssignedNames {
  const place = { order: 0 };
  const publicNames = new PublicNames();
  publicNames.setUsersOwn(options.usersOwn ?? []);
  const first = new Map<string, NamedCandidate>();
  const duplicates: NameWarning[] = [];
  const candidates = entries.map((entry, index) => {
    const { server, tool } = entry;
    const candidate = nameCandidate(entry, place, index, options);
    const key = JSON.stringify([server, tool]);
    const known = first.get(key);
    if (known !== undefined) {
      const text = `${quote(server)} lists ${quote(tool)} more than once; only the first is used`;
      duplicates.push({ kind: "duplicate", text, about: [known, candidate] });
      return undefined;
    }
    first.set(key, candidate);
    publicNames.add(candidate);
    return candidate;
  });
  const { warnings } = publicNames.settle(new Set(options.reserved));
  const names = candidates.map((candidate) => candidate?.name);
  return {
    names,
    warnings: [...duplicates, ...warnings].map(({ about, ...warning }) => ({
      ...warning,
      entries: about.map(({ index }) => index),
    })),
  };
}

function byPlace(one: NamedCandidate | undefined, other: NamedCandidate | undefined): number {
  if (one === undefined || other === undefined) return 0;
  return one.place.order - other.place.order || one.index - other.index;
}

/** The only one that the user wrote, among others of a project: it keeps its name. */
function keeperOf(group: readonly NamedCandidate[]): NamedCandidate | undefined {
  const [first, ...others] = group.filter(({ isOfProject }) => !isOfProject);
  return others.length === 0 ? first : undefined;
}

function raised(level = 0): number {
  return Math.min(level + 1, hashLevels.length - 1);
}

function nameAt(candidate: NamedCandidate, level: number): string {
  const { origin, base } = candidate;
  if (level === 0) return base;
  const hash = (): string => originHash(origin, hashLevels[level] ?? hashLength);
  candidate.hashed ??= [];
  return (candidate.hashed[level] ??= appendHash(base, maxNameLength, hash()));
}

function clashWarning(
  group: readonly NamedCandidate[],
  keeper: NamedCandidate | undefined,
  reserved: ReadonlySet<string>,
): NameWarning {
  const [{ base } = { base: "" }] = group;
  const origins = group
    .filter((candidate) => candidate !== keeper)
    .slice(0, 5)
    .map(originText)
    .join(", ");
  if (reserved.has(base)) {
    const text = `${origins} would hide the native tool ${base}; a hash was added to the name`;
    return { kind: "reserved", text, about: group, native: base };
  }
  const text =
    keeper === undefined
      ? `${origins} would all be called ${base}; a hash was added to each name`
      : `${origins} would take the name ${base} from ${originText(keeper)}; a hash was added to it`;
  return { kind: "collision", text, about: group };
}

function originText({ origin }: NamedCandidate): string {
  return `${quote(origin.tool)} of ${quote(origin.server)}`;
}

function groupBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

function quote(text: string): string {
  return `"${boundedLine(text, 64)}"`;
}

/** Beginnings of names. A name is compared with as many as there are lengths, not with each of them. */
class Starts {
  readonly #starts: ReadonlySet<string>;
  readonly #lengths: ReadonlySet<number>;

  constructor(starts: Iterable<string>) {
    this.#starts = new Set(starts);
    this.#lengths = new Set([...this.#starts].map(({ length }) => length));
  }

  /** Whether one of them is how the name begins. */
  begin(name: string): boolean {
    for (const length of this.#lengths)
      if (length <= name.length && this.#starts.has(name.slice(0, length))) return true;
    return false;
  }

  equals(other: Starts): boolean {
    if (this.#starts.size !== other.#starts.size) return false;
    return [...this.#starts].every((start) => other.#starts.has(start));
  }
}

const nobody: readonly NamedCandidate[] = [];

/** Tools by a text that almost always one of them has alone. */
class Buckets {
  readonly #buckets = new Map<string, NamedCandidate | Set<NamedCandidate>>();
  /** The texts that several have. */
  readonly shared = new Set<string>();

  has(key: string): boolean {
    return this.#buckets.has(key);
  }

  holds(key: string, candidate: NamedCandidate): boolean {
    const known = this.#buckets.get(key);
    return known instanceof Set ? known.has(candidate) : known === candidate;
  }

  get(key: string): Iterable<NamedCandidate> {
    const known = this.#buckets.get(key);
    if (known === undefined) return nobody;
    return known instanceof Set ? known : [known];
  }

  add(key: string, candidate: NamedCandidate): void {
    const known = this.#buckets.get(key);
    if (known === undefined) this.#buckets.set(key, candidate);
    else if (known instanceof Set) known.add(candidate);
    else if (known !== candidate) {
      this.#buckets.set(key, new Set([known, candidate]));
      this.shared.add(key);
    }
  }

  delete(key: string, candidate: NamedCandidate): void {
    if (!this.holds(key, candidate)) return;
    const known = this.#buckets.get(key);
    if (!(known instanceof Set)) {
      this.#buckets.delete(key);
      return;
    }
    known.delete(candidate);
    if (known.size > 1) return;
    this.shared.delete(key);
    for (const left of known) this.#buckets.set(key, left);
  }
}
