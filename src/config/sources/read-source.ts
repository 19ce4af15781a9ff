import { type ConfigText, readConfigText } from "../files/read-config-file.ts";
import { type FieldPath, isRecord, quoteName } from "../keys/check-value.ts";
import { type ConfigProblem, entryProblem } from "../keys/config-problem.ts";
import type { ServerConfig } from "../keys/server-config.ts";
import { parseConfig } from "../parse/parse-config.ts";
import { createReport, type Position } from "../parse/parse-entry.ts";
import { foreignReferences } from "../variables/reference-uses.ts";
import { translateEntry } from "./entry-shapes.ts";
import { guessShape, type ListedEntries, type ListedEntry, listEntries } from "./list-entries.ts";
import type { EntryShapeName, SourceFile } from "./source-table.ts";

/** The largest file of another program that is read: some keep histories beside their servers. */
const maxSourceBytes = 32 * 1_024 * 1_024;
/** The most keys and values of such a file; building more of them would take seconds. */
const maxSourceValues = 500_000;
/** The most servers that are taken from one file. */
const maxSourceEntries = 1_000;

/** A server of another program, with what its entry depends on there. */
export interface SourceServer {
  readonly config: ServerConfig;
  /** The folder from which relative paths of the entry are resolved. */
  readonly base: string;
}

export interface SourceServers {
  /** The servers that can be used, in the order they are written. */
  readonly servers: readonly SourceServer[];
  /** Flaws of single entries; an entry with an error is not among `servers`. */
  readonly problems: readonly ConfigProblem[];
  /** Servers that the file has for other folders. */
  readonly elsewhere: readonly { readonly name: string; readonly folder: string }[];
}

export type ReadSource =
  | { readonly status: "missing" }
  /** The file is there and cannot be used as a whole. */
  | { readonly status: "failed"; readonly problem: ConfigProblem }
  | ({ readonly status: "read" } & SourceServers);

/** A file of another program as data, with the place of every value. */
export interface SourceDocument {
  readonly shape: EntryShapeName;
  readonly listed: ListedEntries;
  readonly locate: (path: FieldPath) => Position;
  readonly problems: readonly ConfigProblem[];
}

export type ReadDocument =
  | { readonly status: "missing" }
  | { readonly status: "failed"; readonly problem: ConfigProblem }
  | ({ readonly status: "read" } & SourceDocument);

/** Reads the servers of another program's file (JSON with comments, or TOML). Never throws. */
export async function readSource(file: SourceFile, workspaceFolder: string): Promise<ReadSource> {
  const document = await readDocument(file, workspaceFolder);
  return document.status === "read" ? { status: "read", ...parseSource(document, file) } : document;
}

/** Reads the file without a look at its entries. Never throws. */
async function readDocument(file: SourceFile, workspaceFolder: string): Promise<ReadDocument> {
  const fail = (message: string, position?: Position): ReadDocument => ({
    status: "failed",
    problem: { severity: "error", code: "config_invalid", message, path: file.path, ...position },
  });
  const read: ConfigText = readConfigText(file.path, maxSourceBytes);
  if (read.status === "missing") return read;
  if (read.status === "failed") return fail(read.reason);
  const text = read.text.replace(/^\uFEFF/, "");
  if (text.trim() === "") return fail("the file is empty");
  const parsed = await parseText(text, file);
  if (!parsed.ok) return fail(parsed.message, parsed.position);
  const { value, locate, repeatedKeys } = parsed;
  const shape = file.shape ?? guessShape(value);
  const listed = listEntries(value, shape, workspaceFolder);
  // Settings of a program that has no servers are nothing wrong; any other file was named for its servers.
  if (listed === undefined && (file.source === undefined || file.isDedicated))
    return fail('holds no servers: they are looked for under "mcpServers" and "servers"');
  const problems = repeatedKeys.map(({ key, position }): ConfigProblem => ({
    severity: "warning",
    code: "config_invalid",
    message: `the key ${quoteName(key)} is repeated; the last one counts`,
    path: file.path,
    ...position,
  }));
  const nothing: ListedEntries = { entries: [], elsewhere: [] };
  return { status: "read", shape, listed: listed ?? nothing, locate, problems };
}

type ParsedText =
  | {
      readonly ok: true;
      readonly value: unknown;
      readonly locate: (path: FieldPath) => Position;
      readonly repeatedKeys: readonly { readonly key: string; readonly position: Position }[];
    }
  | { readonly ok: false; readonly message: string; readonly position: Position };

async function parseText(text: string, { path, shape }: SourceFile): Promise<ParsedText> {
  if (shape === "codex" || path.endsWith(".toml")) {
    const { parseToml } = await import("./toml-document.ts");
    const parsed = parseToml(text);
    return parsed.ok ? { ...parsed, repeatedKeys: [] } : parsed;
  }
  const { parseJsonc } = await import("../files/jsonc-document.ts");
  const parsed = parseJsonc(text, { maxValues: maxSourceValues });
  return parsed.ok ? { ok: true, ...parsed.document } : parsed;
}

/** Parses the entries of a file that was read. */
function parseSource(document: SourceDocument, file: SourceFile): SourceServers {
  const { shape, listed, locate } = document;
  // Approval depends on where an entry is kept in the end; here it is only read.
  const provenance = { layer: "project", path: file.path } as const;
  const problems: ConfigProblem[] = [...document.problems];
  const entries = listed.entries
    .slice(0, maxSourceEntries)
    .map((entry) => translate(entry, shape, problems, { provenance, locate }));
  const isNamed = entries.every(({ name }) => name !== undefined);
  const servers = isNamed
    ? Object.fromEntries(entries.map(({ name = "", value }) => [name, value]))
    : entries.map(({ value }) => value);
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const parsed = parseConfig(
    { servers, ...(listed.inputs === undefined ? {} : { inputs: listed.inputs }) },
    {
      provenance,
      locate: ([, key, ...rest]) => {
        const entry = typeof key === "number" ? entries[key] : byName.get(key);
        if (entry === undefined) return undefined;
        const [first, ...further] = rest;
        const written = typeof first === "string" ? (entry.origins.get(first) ?? first) : first;
        return locate([...entry.path, ...(written === undefined ? [] : [written]), ...further]);
      },
    },
  );
  problems.push(...parsed.problems, ...foreignProblems(parsed.servers));
  if (listed.entries.length > entries.length) problems.push(tooMany(listed.entries.length, file));
  return {
    servers: parsed.servers.map((config) => ({
      config,
      base: byName.get(config.name)?.folder ?? file.base,
    })),
    problems,
    elsewhere: listed.elsewhere,
  };
}

/** An entry in the keys of ours, with the keys that they were made of. */
type OwnEntry = ListedEntry & { readonly origins: ReadonlyMap<string, string> };

function translate(
  listed: ListedEntry,
  shape: EntryShapeName,
  problems: ConfigProblem[],
  options: Parameters<typeof createReport>[1],
): OwnEntry {
  const { name, value, path, isSwitchedOff = false } = listed;
  if (!isRecord(value)) return { ...listed, origins: new Map() };
  const { entry, origins, lost } = translateEntry(shape, value);
  const report = createReport(problems, options, path, name);
  for (const { key, reason } of lost) report("warning", [key], `${quoteName(key)} ${reason}`);
  const { enabled: _enabled, disabled: _disabled, ...rest } = entry;
  return { ...listed, value: isSwitchedOff ? { ...rest, enabled: false } : entry, origins };
}

/** Warns about references that only the other program can replace: the server would not start. */
function foreignProblems(servers: readonly ServerConfig[]): readonly ConfigProblem[] {
  return servers.flatMap((config) =>
    foreignReferences(config).map(({ kind, field }) =>
      entryProblem(config, {
        severity: "warning",
        code: "config_invalid",
        message: `${quoteName(field)} holds "\${${kind}:…}", which only the program knows that the file was written for: name a variable in its place`,
        field,
      }),
    ),
  );
}

function tooMany(count: number, { path }: SourceFile): ConfigProblem {
  const message = `it names ${count} servers; only the first ${maxSourceEntries} are read`;
  return { severity: "error", code: "config_invalid", message, path };
}
