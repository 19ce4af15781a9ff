import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { ServerConfig } from "../config/keys/server-config.ts";
import { parseServerEntry } from "../config/parse/parse-config.ts";
import { boundedLine } from "../text/untrusted/bounded-text.ts";
import { type AssignOptions, type NameEntry } from "./public-names.ts";
import { type ExtraTools, ToolCatalog } from "./tool-catalog.ts";
import {
  appendHash,
  hashLength,
  maxNameLength,
  type Naming,
  namingServer,
  namingStrategy,
  originHash,
  startOfNames,
} from "./tool-names.ts";
import type { ToolOrigin } from "./tool-origin.ts";

/** Names that meet in every way: equal ones, ones that differ in case, ones that have another's prefix or hash. */
const hashed = appendHash(
  "same",
  maxNameLength,
  originHash({ server: "a", tool: "same" }, hashLength),
);
const toolNames = ["same", "Same", "x_y", "y", hashed, "other"] as const;
const serverNames = ["a", "b", "a_x", "A"] as const;
const alone: Naming = (_server, tool) => tool;

interface Entry {
  readonly name: string;
  readonly isOfProject: boolean;
  readonly isAlone: boolean;
}

/** Configs of the same words are the same object, as the registry keeps them. */
const configs = new Map<string, ServerConfig>();

function configOf(entry: Entry): ServerConfig {
  const key = JSON.stringify(entry);
  const layer = entry.isOfProject ? "project" : "user";
  const config =
    configs.get(key) ??
    parseServerEntry(
      entry.name,
      { command: "x", ...(entry.isAlone ? {} : { naming: "mcp_server_tool" }) },
      { provenance: { layer, path: "/mcp.json" } },
    );
  configs.set(key, config);
  return config;
}

const entry = fc.record({
  name: fc.constantFrom(...serverNames),
  isOfProject: fc.boolean(),
  isAlone: fc.boolean(),
});
const tools = fc.subarray([...toolNames]);
const step = fc.oneof(
  fc.record({ arrange: fc.uniqueArray(entry, { selector: ({ name }) => name }) }),
  { weight: 4, arbitrary: fc.record({ list: fc.constantFrom(...serverNames), tools }) },
  fc.record({ clear: fc.constantFrom(...serverNames) }),
  fc.record({ unnamed: fc.subarray([...serverNames]) }),
  fc.record({ reserve: fc.constantFrom(...toolNames, "SAME", "mcp_a_x_y") }),
);
interface Step {
  readonly arrange?: readonly Entry[];
  readonly list?: string;
  readonly tools?: readonly string[];
  readonly clear?: string;
  readonly unnamed?: readonly string[];
  readonly reserve?: string;
}

describe("names that follow the catalog", () => {
  it("NAM-13: are those that are made from scratch, whatever has come and gone before", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20, size: "max" }), (steps: readonly Step[]) => {
        const catalog = new ToolCatalog();
        const own = catalog.createNames(alone);
        const reserved = new Set<string>();
        let current: readonly ServerConfig[] = [];
        let unnamed: ReadonlySet<string> = new Set();
        for (const { arrange, list, tools: listed = [], clear, ...more } of steps) {
          if (arrange !== undefined) {
            const next = arrange.map(configOf);
            const kept = next.filter((config) => current.includes(config));
            catalog.arrange(next, new Set(kept.map(({ name }) => name)));
            current = next;
          }
          if (list !== undefined)
            catalog.replace(list, { tools: listed.map((name) => ({ name })), rejected: [] });
          if (clear !== undefined) catalog.clear(clear);
          if (more.unnamed !== undefined) {
            unnamed = new Set(more.unnamed);
            catalog.leaveUnnamed(unnamed);
          }
          if (more.reserve !== undefined) reserved.add(more.reserve);
          const named = current.filter(({ name }) => !unnamed.has(name));
          const shared = catalog.named(alone);
          check(catalog, named, [], shared);
          const beside = catalog.namedBeside(own, { reserved: new Set(reserved) });
          check(catalog, named, [...reserved], beside);
          // A session whose native tools meet nobody uses the shared names.
          if ([...reserved].every((name) => shared.isFree(name)))
            expect(beside.tools).toEqual(shared.tools);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("expected names are made while lists arrive, five hundred tools at a time", () => {
    const catalog = new ToolCatalog();
    const asked: string[] = [];
    const extras: ExtraTools = {
      extend(serverName, own) {
        asked.push(serverName);
        return own;
      },
    };
    catalog.expectNames("mcp__server__tool", extras);
    for (const name of ["a", "b"]) {
      catalog.declare(parseServerEntry(name, { command: "x" }));
      const listed = Array.from({ length: 250 }, (_, index) => ({ name: `t${index}` }));
      catalog.replace(name, { tools: listed, rejected: [] });
      catalog.noteResources(name, true);
      catalog.prepareNames();
      expect(asked).toEqual(name === "a" ? [] : ["a", "b"]);
    }
    expect(catalog.named("mcp__server__tool", extras).tools).toHaveLength(500);
    expect(asked).toEqual(["a", "b"]);
  });

  it("a server that is listed again costs no other server its objects", () => {
    const catalog = new ToolCatalog();
    const servers = ["a", "b", "c"].map((name) => parseServerEntry(name, { command: "x" }));
    for (const config of servers) catalog.declare(config);
    const listed = { tools: [{ name: "one" }, { name: "two" }], rejected: [] };
    for (const { name } of servers) catalog.replace(name, listed);
    const before = catalog.named("mcp__server__tool");
    expect(catalog.named("mcp__server__tool")).toBe(before);
    const [first, , third] = before.servers;
    catalog.replace("b", { ...listed, tools: [{ name: "three" }] });
    const after = catalog.named("mcp__server__tool").servers;
    expect([after[0], after[2]].map((server, index) => server === [first, third][index])).toEqual([
      true,
      true,
    ]);
    expect(after[1]?.tools.map(({ name }) => name)).toEqual(["mcp__b__three"]);
    catalog.arrange(servers.slice(1), new Set(["b", "c"]));
    const left = catalog.named("mcp__server__tool");
    expect(left.servers[0]).toBe(after[1]);
    expect(left.servers[1]).toBe(third);
    expect([...left.byName.keys()].toSorted()).toEqual([
      "mcp__b__three",
      "mcp__c__one",
      "mcp__c__two",
    ]);
  });
});

function check(
  catalog: ToolCatalog,
  servers: readonly ServerConfig[],
  reserved: readonly string[],
  named: ReturnType<ToolCatalog["named"]>,
): void {
  const entries = servers.flatMap((config): NameEntry[] =>
    catalog.tools(config.name).map(({ originalName }) => ({
      server: config.name,
      tool: originalName,
      naming: config.naming ?? alone,
      isOfProject: config.provenance.layer === "project",
    })),
  );
  const usersOwn = servers
    .filter(({ provenance }) => provenance.layer !== "project")
    .flatMap((config) => startOfNames(config, config.naming ?? alone) ?? []);
  const expected = namesFromScratch(entries, { reserved, usersOwn });
  expect(named.tools.map(({ name }) => name)).toEqual(expected.names);
  expect([...named.byName.keys()].toSorted()).toEqual(
    named.tools.map(({ name }) => name).toSorted(),
  );
  for (const one of named.tools) {
    expect(named.byName.get(one.name)).toBe(one);
    const { serverName: server, originalName: tool } = one.tool;
    expect(named.byOrigin({ server, tool })).toBe(one);
  }
  // `Query` beside `query` of one server is reported by the catalog.
  const texts = expected.warnings
    .filter(
      ({ kind, native, entries: about }) =>
        kind !== "case" ||
        native !== undefined ||
        new Set(about.map((index) => entries[index]?.tool.toLowerCase())).size > 1,
    )
    .map(({ text }) => text);
  expect(named.problems.map(({ text }) => text)).toEqual(texts);
}

interface OldWarning {
  readonly kind: string;
  readonly text: string;
  readonly entries: readonly number[];
  readonly native?: string | undefined;
}

// The names of a whole catalog at once, as plainly as the rule reads: what the names that follow are held to.

/** How many digits of its hash a name carries, the longer ones only if the shorter are taken. */
const hashLevels = [0, hashLength, 16, 32, 48] as const;

function namesFromScratch(
  entries: readonly NameEntry[],
  options: AssignOptions = {},
): { readonly names: readonly (string | undefined)[]; readonly warnings: readonly OldWarning[] } {
  const warnings: OldWarning[] = [];
  const reserved = new Set(options.reserved);
  const candidates = entries.map((entry, index) => candidateOf(entry, index));
  const unique = candidates;
  leaveToUser(unique, [...(options.usersOwn ?? [])], warnings);
  for (let rounds = 0; rounds < hashLevels.length; rounds += 1) {
    const clashes = findClashes(unique, reserved);
    if (clashes.length === 0) break;
    for (const clash of clashes) {
      const keeper = reserved.has(clash[0]?.name ?? "") ? undefined : keeperOf(clash);
      if (rounds === 0) warnings.push(clashWarning(clash, keeper, reserved));
      for (const candidate of clash) if (candidate !== keeper) raise(candidate);
    }
  }
  warnings.push(...caseWarnings(unique, reserved));
  const names = entries.map((): string | undefined => undefined);
  for (const { index, name } of unique) names[index] = name;
  return { names, warnings };
}

interface Candidate {
  readonly index: number;
  readonly origin: ToolOrigin;
  readonly isOfProject: boolean;
  readonly base: string;
  name: string;
  level: number;
}

function candidateOf(entry: NameEntry, index: number): Candidate {
  const { server, tool, prefix, naming = "mcp__server__tool", isOfProject = false } = entry;
  const base = namingStrategy(naming).build(namingServer(server, prefix, naming), tool);
  return { index, origin: { server, tool }, isOfProject, base, name: base, level: 0 };
}

function findClashes(
  candidates: readonly Candidate[],
  reserved: ReadonlySet<string>,
): readonly (readonly Candidate[])[] {
  return [...groupBy(candidates, ({ name }) => name).values()].filter(
    (group) => group.length > 1 || group.some(({ name }) => reserved.has(name)),
  );
}

/** Decided by how names begin, not by which there are: a name must not change hands when a server lists its tools. */
function leaveToUser(
  candidates: readonly Candidate[],
  starts: readonly string[],
  warnings: OldWarning[],
): void {
  const projects = candidates.filter(({ isOfProject }) => isOfProject);
  for (const [server, group] of groupBy(projects, ({ origin }) => origin.server)) {
    const taken = group.filter(({ base }) => starts.some((start) => base.startsWith(start)));
    for (const candidate of taken) raise(candidate);
    const [first] = taken;
    if (first === undefined) continue;
    warnings.push({
      kind: "collision",
      text: `tools of ${quote(server)} would be named like those of another server, such as ${first.base}; a hash was added to each name`,
      entries: taken.map(({ index }) => index),
    });
  }
}

/** The only one that the user wrote, among others of a project: it keeps its name. */
function keeperOf(group: readonly Candidate[]): Candidate | undefined {
  const [first, ...others] = group.filter(({ isOfProject }) => !isOfProject);
  return others.length === 0 ? first : undefined;
}

function raise(candidate: Candidate): void {
  candidate.level = Math.min(candidate.level + 1, hashLevels.length - 1);
  const hash = originHash(candidate.origin, hashLevels[candidate.level] ?? hashLength);
  candidate.name = appendHash(candidate.base, maxNameLength, hash);
}

function clashWarning(
  group: readonly Candidate[],
  keeper: Candidate | undefined,
  reserved: ReadonlySet<string>,
): OldWarning {
  const [{ base } = { base: "" }] = group;
  const origins = group
    .filter((candidate) => candidate !== keeper)
    .slice(0, 5)
    .map(originText)
    .join(", ");
  const isReserved = reserved.has(base);
  const text = isReserved
    ? `${origins} would hide the native tool ${base}; a hash was added to the name`
    : keeper === undefined
      ? `${origins} would all be called ${base}; a hash was added to each name`
      : `${origins} would take the name ${base} from ${originText(keeper)}; a hash was added to it`;
  const entries = group.map(({ index }) => index);
  return isReserved
    ? { kind: "reserved", text, entries, native: base }
    : { kind: "collision", text, entries };
}

function originText({ origin }: Candidate): string {
  return `${quote(origin.tool)} of ${quote(origin.server)}`;
}

/** Providers tell `Query` from `query`; people and models easily do not. */
function caseWarnings(
  candidates: readonly Candidate[],
  reserved: ReadonlySet<string>,
): readonly OldWarning[] {
  const folded = new Map([...reserved].map((name) => [name.toLowerCase(), name]));
  const warnings: OldWarning[] = [];
  for (const [lower, group] of groupBy(candidates, ({ name }) => name.toLowerCase())) {
    const native = folded.get(lower);
    if (group.length === 1 && native === undefined) continue;
    const names = [...(native === undefined ? [] : [native]), ...group.map(({ name }) => name)];
    const text = `${names.slice(0, 5).join(", ")} differ only in upper and lower case`;
    warnings.push({ kind: "case", text, entries: group.map(({ index }) => index), native });
  }
  return warnings;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
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
