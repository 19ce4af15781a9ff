import path from "node:path";
import { isDeepStrictEqual } from "node:util";

import { isWithin } from "../../config/files/project-folders.ts";
import { type ConfigProblem, formatOrigin } from "../../config/keys/config-problem.ts";
import { isOfProject, type ServerConfig } from "../../config/keys/server-config.ts";
import { toJson } from "../../config/parse/to-json.ts";
import { keepUnique } from "../../config/parse/unique-servers.ts";
import type { SourceServer } from "../../config/sources/read-source.ts";
import type { SourceFile, SourceGround } from "../../config/sources/source-table.ts";
import { variableUses } from "../../config/variables/reference-uses.ts";
import { withoutEditions } from "../../config/variables/secret-names.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { HostStore } from "../../store/host-store.ts";
import type {
  EntryInput,
  ImportedServer,
  ImportedVariable,
  ImportOptions,
  ImportResult,
  ServerScope,
  SkippedServer,
} from "../host.ts";
import { SecretVariables } from "./entry-secrets.ts";
import { chooseNames, type FoundFile, isError, readFiles } from "./found-files.ts";

type Entry = Readonly<Record<string, unknown>>;

/** An entry whose secrets are replaced by references to the vault. */
interface SealedEntry {
  readonly entry: Entry;
  readonly values: ReadonlyMap<string, string>;
  readonly notes: readonly string[];
}

/** An entry as it will be written. */
export interface PreparedEntry {
  readonly entry: Readonly<Record<string, unknown>>;
  /** What is written differently from what was given. */
  readonly notes: readonly string[];
  readonly config: ServerConfig;
  readonly warnings: readonly ConfigProblem[];
}

export interface ImportParts {
  readonly ground: SourceGround;
  /** The environment that imported entries may refer to. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly store: HostStore;
  /** The entries of all layers that the host has already. */
  readonly servers: readonly ServerConfig[];
  /** Where entries of scope `project` are written. */
  readonly projectFile: string;
  /** Makes the entry that is written, whose relative paths are meant from `base`. */
  readonly prepare: (
    name: string,
    entry: EntryInput,
    scope: ServerScope,
    base: string,
  ) => PreparedEntry;
  /** Replaces the secrets of an entry that is to be stored, and writes none of them. */
  readonly seal: (name: string, entry: Entry) => Promise<SealedEntry>;
  /** Whether the stored server of this name says the same, secrets included. */
  readonly isStoredAlike: (name: string, sealed: SealedEntry) => Promise<boolean>;
  /** Writes an entry; gives what is kept differently. */
  readonly keep: (
    name: string,
    entry: Entry,
    scope: ServerScope,
    isReplacing: boolean,
  ) => Promise<readonly string[]>;
}

/**
 * Writes the servers of other programs to where this host keeps servers. What is there already stays as it is, so
 * that an import can be repeated. Throws when nothing can be read, and when the store cannot be written: what was
 * written until then stays.
 */
export async function importConfig(
  options: ImportOptions,
  parts: ImportParts,
): Promise<ImportResult> {
  const found = await readFiles(options.from, parts.ground);
  const chosen = chooseNames(found, options.names);
  const rows = await parts.store.read(({ servers }) => servers.list(), []);
  const run = new ImportRun(options, parts, new Set(rows.map(({ name }) => name)));
  for (const file of chosen) await run.take(file);
  return run.result();
}

const taken = "there is a server of that name already";

/** One import: what it has written so far, and what it says about the rest. */
class ImportRun {
  readonly #options: ImportOptions;
  readonly #parts: ImportParts;
  /** Names in the store; an entry that cannot be read is no server, and must not be overwritten all the same. */
  readonly #stored: ReadonlySet<string>;
  readonly #known: ServerConfig[];
  readonly #secrets: SecretVariables;
  readonly #servers: ImportedServer[] = [];
  readonly #skipped: SkippedServer[] = [];
  readonly #notes: string[] = [];
  readonly #problems: ConfigProblem[] = [];
  readonly #variables: ImportedVariable[] = [];

  constructor(options: ImportOptions, parts: ImportParts, stored: ReadonlySet<string>) {
    this.#options = options;
    this.#parts = parts;
    this.#stored = stored;
    this.#known = [...parts.servers];
    this.#secrets = new SecretVariables(parts.env, variablesOf(parts.servers));
  }

  result(): ImportResult {
    return {
      imported: this.#servers.map(({ name }) => name),
      servers: this.#servers,
      skipped: this.#skipped,
      notes: this.#notes,
      problems: this.#problems,
      variables: this.#variables,
    };
  }

  async take({ file, servers, problems, elsewhere }: FoundFile): Promise<void> {
    for (const problem of problems.filter(isError)) this.#reject(problem);
    for (const { name, folder } of elsewhere) {
      const reason = `it is for ${folder}: import it there`;
      this.#skipped.push({ name, reason, kind: "elsewhere", path: file.path });
    }
    for (const server of servers)
      await this.#takeServer(
        file,
        server,
        problems.filter((it) => !isError(it) && it.serverName === server.config.name),
      );
    this.#problems.push(...problems.filter((it) => !isError(it) && it.serverName === undefined));
  }

  /** Names an entry that cannot be used once, with all that is wrong with it. */
  #reject(problem: ConfigProblem): void {
    const { serverName: name, message: reason, path: file, line, column } = problem;
    if (name === undefined) return void this.#problems.push(problem);
    const index = this.#skipped.findIndex(
      (it) => it.kind === "broken" && it.name === name && it.path === file,
    );
    const before = this.#skipped[index];
    if (before !== undefined)
      this.#skipped[index] = { ...before, reason: `${before.reason}; ${reason}` };
    else
      this.#skipped.push({
        name,
        reason,
        kind: "broken",
        ...definedOnly({ path: file, line, column }),
      });
  }

  async #takeServer(
    file: SourceFile,
    { config, base }: SourceServer,
    warnings: readonly ConfigProblem[],
  ): Promise<void> {
    const { scope = file.scope, dryRun = false } = this.#options;
    const { name, provenance } = config;
    const { line, column } = provenance;
    const place = { path: file.path, ...definedOnly({ line, column }) };
    const skip = (kind: SkippedServer["kind"], reason: string): void =>
      void this.#skipped.push({ name, reason, kind, ...place });
    try {
      const { name: _name, ...written } = toJson(config, { secrets: "keep" });
      // A file of a project gets no secret; one that is stored is sealed.
      const { entry, variables } =
        scope === "project"
          ? this.#secrets.replace(name, written)
          : { entry: written, variables: [] };
      const importedFrom = this.#originText(config);
      const prepared = this.#parts.prepare(name, { ...entry, importedFrom }, scope, base);
      const sealed =
        scope === "user" ? await this.#parts.seal(name, prepared.entry) : unsealed(prepared.entry);
      const known = this.#findKnown(prepared.config, file, scope);
      if (known !== undefined && (await this.#isSame(known, prepared.config, sealed)))
        return skip("same", "it is here already");
      const obstacle = this.#obstacle(prepared.config, known, file, scope);
      if (obstacle !== undefined) return skip("exists", obstacle);
      const isReplaced = known !== undefined;
      const keptNotes = dryRun
        ? sealed.notes
        : await this.#parts.keep(name, prepared.entry, scope, isReplaced);
      this.#known.push(prepared.config);
      const shown = JSON.parse(withoutEditions(JSON.stringify(sealed.entry))) as Entry;
      this.#servers.push({ name, scope, isReplaced, entry: shown, ...place });
      this.#notes.push(...[...prepared.notes, ...keptNotes].map((text) => `${name}: ${text}`));
      this.#variables.push(...variables.map((it) => ({ ...it, serverName: name })));
      const told = new Set(warnings.map(({ message }) => message));
      const further = prepared.warnings.filter(({ message }) => !told.has(message));
      this.#problems.push(
        ...warnings,
        ...further.map(({ layer: _layer, ...it }) => ({ ...it, ...place })),
      );
    } catch (error) {
      // One that cannot be written as it is must not keep the others away.
      if (!McpError.is(error, "config_invalid")) throw error;
      // Another process may have written one of that name since the last look.
      if (error.details["isTaken"] === true) skip("exists", taken);
      else skip("broken", error.message);
    }
  }

  /** Whether an entry that is here says the same. The secrets of a stored one are compared in the vault. */
  async #isSame(known: ServerConfig, config: ServerConfig, sealed: SealedEntry): Promise<boolean> {
    if (isAlike(known, config)) return true;
    if (known.provenance.layer !== "store" || sealed.values.size === 0) return false;
    return await this.#parts.isStoredAlike(known.name, sealed);
  }

  /** Finds an entry of this name that counts in the scope. The file that is imported does not count against itself. */
  #findKnown(
    { name }: ServerConfig,
    file: SourceFile,
    scope: ServerScope,
  ): ServerConfig | undefined {
    return this.#relevant(file, scope).find((known) => known.name === name);
  }

  #relevant(file: SourceFile, scope: ServerScope): readonly ServerConfig[] {
    return this.#known.filter(
      ({ provenance }) =>
        provenance.path !== file.path &&
        // One of a project stands in front of the user's own in that project alone.
        (scope === "project" || !isOfProject(provenance)),
    );
  }

  /** Says why an entry cannot be written; undefined when it can. */
  #obstacle(
    config: ServerConfig,
    known: ServerConfig | undefined,
    file: SourceFile,
    scope: ServerScope,
  ): string | undefined {
    const { overwrite = false } = this.#options;
    const { name } = config;
    if (known === undefined && scope === "user" && this.#stored.has(name) && !overwrite)
      return taken;
    if (known !== undefined) {
      const { layer, path: place } = known.provenance;
      const isInScope = scope === "user" ? layer === "store" : place === this.#parts.projectFile;
      const where = formatOrigin(known.provenance);
      if (!overwrite) return `${taken} (${where})`;
      if (!isInScope) return `${taken}, in ${where}: change it there`;
    }
    const others = this.#relevant(file, scope).filter((other) => other.name !== name);
    return keepUnique([...others, config]).problems.find(({ serverName }) => serverName === name)
      ?.message;
  }

  /** Writes the origin as people read it, without the name of the user's home. */
  #originText({ provenance }: ServerConfig): string {
    const { path: file = "", line } = provenance;
    const { home, workspaceFolder } = this.#parts.ground;
    const shown = isWithin(file, workspaceFolder)
      ? path.relative(workspaceFolder, file)
      : isWithin(file, home)
        ? `~${path.sep}${path.relative(home, file)}`
        : file;
    return line === undefined ? shown : `${shown}:${line}`;
  }
}

/** Lists the names of variables that entries refer to, with the names of those servers. */
function variablesOf(servers: readonly ServerConfig[]): ReadonlyMap<string, ReadonlySet<string>> {
  const users = new Map<string, Set<string>>();
  for (const config of servers)
    for (const { variable } of variableUses(config))
      users.set(variable, (users.get(variable) ?? new Set()).add(config.name));
  return users;
}

function unsealed(entry: Entry): SealedEntry {
  return { entry, values: new Map(), notes: [] };
}

/** Whether two entries say the same, wherever they come from. */
function isAlike(one: ServerConfig, other: ServerConfig): boolean {
  const [first, second] = [one, other].map((config) => {
    const { importedFrom: _from, ...entry } = toJson(config, { secrets: "keep" });
    return entry;
  });
  return isDeepStrictEqual(first, second);
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

function definedOnly<T extends object>(members: T): Defined<T> {
  const defined = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as Defined<T>;
}
