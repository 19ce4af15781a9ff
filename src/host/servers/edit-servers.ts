import path from "node:path";

import type { EditConfigFileOptions } from "../../config/edit/edit-config-file.ts";
import type { ConfigEdit } from "../../config/edit/edit-config-text.ts";
import { baseDirOf } from "../../config/files/config-files.ts";
import { projectRoot } from "../../config/files/project-folders.ts";
import type { ConfigProblem } from "../../config/keys/config-problem.ts";
import { isOfProject, type ServerConfig } from "../../config/keys/server-config.ts";
import { parseServerEntry } from "../../config/parse/parse-config.ts";
import { takeProviders } from "../../config/parse/take-providers.ts";
import { toJson } from "../../config/parse/to-json.ts";
import type { SourceGround } from "../../config/sources/source-table.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { HostStore } from "../../store/host-store.ts";
import type { NewServerRow, ServerRow } from "../../store/rows/server-rows.ts";
import type { Store } from "../../store/store.ts";
import { revealAll } from "../../text/secrets/secret-text.ts";
import { refuseFileSecrets } from "../files/entry-secrets.ts";
import type { PreparedEntry } from "../files/import-config.ts";
import type {
  EditableEntry,
  EntryInput,
  ImportOptions,
  ImportResult,
  ImportSource,
  ServerScope,
} from "../host.ts";
import type { EntryVault, SealedEntry } from "../secrets/entry-vault.ts";
import { absoluteEntry } from "./absolute-entry.ts";
import { isThere, noStore } from "./edit-errors.ts";
import type { GivenServers } from "./given-servers.ts";

type Entry = Readonly<Record<string, unknown>>;

export interface ServerEditsOptions {
  readonly store: HostStore;
  readonly entryVault: EntryVault;
  readonly cwd: string;
  readonly home: string;
  readonly given: GivenServers;
  /** The variables of the host's environment, which imported entries may refer to. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  /** The variables that say where programs keep their files. */
  readonly ownEnv: Readonly<Record<string, string | undefined>>;
}

/** Writes changes of servers to where each is defined: a file, the store, or memory. */
export class ServerEdits {
  readonly #options: ServerEditsOptions;

  constructor(options: ServerEditsOptions) {
    this.#options = options;
  }

  /**
   * Keeps the server where the scope says, and in memory when the host has no store. Gives what is kept
   * differently from what was given.
   */
  async add(name: string, entry: EntryInput, scope: ServerScope): Promise<readonly string[]> {
    const { store, given } = this.#options;
    if (scope === "project" || store.isPersistent) return await this.write(name, entry, scope);
    if (given.has(name)) throw isThere(name);
    given.put(this.#parseGiven(name, entry), true);
    return [];
  }

  /**
   * Writes a new entry to where the scope says. Throws `config_invalid` for one that would not work, before
   * anything is written, and `store_failed` when the host has no store. Relative paths are meant from `base`;
   * gives what is kept differently from what was given.
   */
  async write(name: string, input: EntryInput, scope: ServerScope): Promise<readonly string[]> {
    const { entry, notes } = this.prepare(name, input, scope);
    return [...notes, ...(await this.keep(name, entry, scope))];
  }

  /**
   * Makes the entry that `keep` writes. Throws `config_invalid` for one that would not work, and `invalid_arguments` for
   * one with a secret that is to be written into a file.
   */
  prepare(
    name: string,
    input: EntryInput,
    scope: ServerScope,
    base = this.#options.cwd,
  ): PreparedEntry {
    const { cwd } = this.#options;
    const given = writableEntry(name, input, scope === "project");
    if (scope === "project") refuseFileSecrets(given);
    // Servers of a project start in it, so what is relative to it may stay so, for whoever shares the file.
    const isRelative = scope === "project" && base === cwd;
    const { entry, notes } = isRelative ? { entry: given, notes: [] } : absoluteEntry(given, base);
    const warnings: ConfigProblem[] = [];
    const config = parseServerEntry(name, entry, {
      provenance: { layer: scope === "project" ? "project" : "store" },
      baseDir: cwd,
      onWarning: (problem) => warnings.push(problem),
    });
    return { entry, notes, config, warnings };
  }

  /**
   * Writes a new entry; with `isReplacing` one in place of another. Throws `config_invalid` when the name is taken, by
   * another process since the last look, too. Gives what is kept differently: secrets of a stored entry are in the vault.
   */
  async keep(
    name: string,
    entry: Entry,
    scope: ServerScope,
    isReplacing = false,
  ): Promise<readonly string[]> {
    if (scope === "project") {
      const action = isReplacing ? "put" : "add";
      await this.#editProjectFile(this.#projectFile, { action, name, entry });
      return [];
    }
    const { store } = this.#options;
    if (!store.isPersistent) throw noStore(name);
    const notes = await store.write(async (opened) => {
      const rows = isReplacing ? await opened.servers.list() : [];
      const row = rows.find((it) => it.name === name);
      return await this.#keepRow(opened, { name, entry, row });
    });
    if (notes === undefined) throw isThere(name);
    return notes;
  }

  /** Replaces the secrets of an entry that is to be stored, and writes none of them. */
  async seal(name: string, entry: Entry): Promise<SealedEntry> {
    return await this.#options.entryVault.seal(this.#rowOf(name, entry).id, entry);
  }

  /** Whether the stored server of this name has an entry that says the same, secrets included. */
  async isStoredAlike(name: string, sealed: SealedEntry): Promise<boolean> {
    const rows = await this.#options.store.read(({ servers }) => servers.list(), []);
    const row = rows.find((it) => it.name === name);
    if (row === undefined) return false;
    const { name: _name, ...stored } = row.config;
    const bare = { ...sealed, entry: withoutOrigin(sealed.entry) };
    return await this.#options.entryVault.isAlike(withoutOrigin(stored), bare);
  }

  /** Puts an entry into its row, the secrets first; undefined when another process has taken the row. */
  async #keepRow(
    { servers }: Store,
    {
      name,
      entry,
      row,
    }: { readonly name: string; readonly entry: Entry; readonly row: ServerRow | undefined },
  ): Promise<readonly string[] | undefined> {
    const { entryVault } = this.#options;
    const id = row?.id ?? this.#rowOf(name, entry).id;
    const sealed = await entryVault.seal(id, entry);
    await entryVault.write(sealed);
    const fresh = this.#rowOf(name, sealed.entry, id);
    if (row === undefined) {
      const isAdded = await servers.add(fresh);
      if (!isAdded) await entryVault.discard(sealed);
      if (!isAdded) return undefined;
    } else {
      await servers.put(fresh);
      await entryVault.release(id, row.config, sealed.entry);
    }
    return sealed.notes;
  }

  get #projectFile(): string {
    return path.join(this.#options.cwd, ".plugboard", "mcp.json");
  }

  /** Gives the entry as it is written, with placeholders for secrets. */
  async editable(config: ServerConfig): Promise<EditableEntry> {
    const { editableEntry } = await import("./editable-entry.ts");
    return editableEntry(await this.#written(config));
  }

  async update(
    config: ServerConfig,
    input: EntryInput,
    revision: string | undefined,
  ): Promise<readonly string[]> {
    const { name, provenance } = config;
    const { cwd } = this.#options;
    if (this.#options.given.has(name)) {
      if (revision !== undefined) await this.#checkRevision(config, revision);
      this.#replaceGiven(this.#parseGiven(name, await this.#restored(config, input)));
      return [];
    }
    const isOfFile = provenance.path !== undefined;
    const given = await this.#restored(config, writableEntry(name, input, isOfFile));
    if (isOfFile) refuseFileSecrets(given, await this.#written(config));
    const { entry, notes } =
      provenance.layer === "store" ? absoluteEntry(given, cwd) : { entry: given, notes: [] };
    parseServerEntry(name, entry, { provenance, baseDir: cwd });
    return [...notes, ...(await this.#edit(config, { action: "replace", name, entry, revision }))];
  }

  async #restored<Input extends object>(config: ServerConfig, input: Input): Promise<Input> {
    // A configuration that was read before holds its secrets themselves.
    if ("provenance" in input) return input;
    const { hasPlaceholders, restoreSecrets } = await import("./editable-entry.ts");
    if (!hasPlaceholders(input)) return input;
    return restoreSecrets(config.name, input as Entry, await this.#written(config)) as Input;
  }

  /** The entry as it is written, without its name. */
  async #written(config: ServerConfig): Promise<Readonly<Record<string, unknown>>> {
    const { name, provenance } = config;
    if (this.#options.given.has(name)) {
      const { name: _name, ...entry } = toJson(config, { secrets: "keep" });
      return entry;
    }
    if (provenance.path !== undefined) {
      const { readConfigEntry } = await import("../../config/edit/edit-config-file.ts");
      return await readConfigEntry(provenance.path, name);
    }
    if (provenance.layer !== "store") throw definedInCode(name);
    const rows = await this.#options.store.read(({ servers }) => servers.list(), []);
    const row = rows.find((it) => it.name === name);
    if (row === undefined) throw notInStore(name);
    const { name: _name, ...entry } = row.config;
    return entry;
  }

  async #checkRevision(config: ServerConfig, revision: string): Promise<void> {
    const { checkRevision } = await import("../../config/edit/edit-config-text.ts");
    checkRevision(config.name, await this.#written(config), revision);
  }

  async remove(config: ServerConfig): Promise<void> {
    if (this.#options.given.delete(config.name)) return;
    await this.#edit(config, { action: "remove", name: config.name });
  }

  async setEnabled(config: ServerConfig, isEnabled: boolean): Promise<void> {
    if (this.#options.given.has(config.name))
      return this.#replaceGiven(Object.freeze({ ...config, enabled: isEnabled }));
    await this.#edit(config, { action: isEnabled ? "enable" : "disable", name: config.name });
  }

  /** Imports the servers of another program. `onAdd` hears of each server before it is written. */
  async import(
    options: ImportOptions,
    known: readonly ServerConfig[],
    onAdd: (name: string) => void,
  ): Promise<ImportResult> {
    const { importConfig } = await import("../files/import-config.ts");
    const { store, hostEnv } = this.#options;
    return await importConfig(options, {
      seal: (name, entry) => this.seal(name, entry),
      isStoredAlike: (name, sealed) => this.isStoredAlike(name, sealed),
      ground: this.#ground,
      env: hostEnv,
      store,
      servers: known,
      projectFile: this.#projectFile,
      prepare: (name, entry, scope, base) => this.prepare(name, entry, scope, base),
      keep: async (name, entry, scope, isReplacing) => {
        onAdd(name);
        return await this.keep(name, entry, scope, isReplacing);
      },
    });
  }

  /** Finds the files of other programs that hold servers; `ownFiles` are those that the host reads by itself. */
  async importSources(ownFiles: ReadonlySet<string>): Promise<readonly ImportSource[]> {
    const { findImportSources } = await import("../files/import-sources.ts");
    return await findImportSources(this.#ground, ownFiles);
  }

  get #ground(): SourceGround {
    const { cwd, home, ownEnv } = this.#options;
    return { workspaceFolder: cwd, home, platform: process.platform, env: ownEnv };
  }

  #parseGiven(name: string, entry: EntryInput): ServerConfig {
    return parseServerEntry(name, entry, {
      provenance: { layer: "code" },
      baseDir: this.#options.cwd,
    });
  }

  #replaceGiven(config: ServerConfig): void {
    const { given } = this.#options;
    given.put(config, given.isKept(config.name));
  }

  /** Gives what is kept differently from what was given. */
  async #edit(config: ServerConfig, edit: ConfigEdit): Promise<readonly string[]> {
    const { layer, path: file } = config.provenance;
    if (file !== undefined) {
      if (isOfProject(config.provenance)) await this.#editProjectFile(file, edit);
      else await editFile(file, edit);
      return [];
    }
    if (layer === "store") return await this.#editRow(config, edit);
    throw definedInCode(config.name);
  }

  /** Edits a file of a project. Links are followed only within the project: one may name any file of the user. */
  async #editProjectFile(file: string, edit: ConfigEdit): Promise<void> {
    const folder = baseDirOf(file);
    const { home } = this.#options;
    await editFile(file, edit, { within: projectRoot({ cwd: folder, home }) ?? folder });
  }

  async #editRow({ name }: ServerConfig, edit: ConfigEdit): Promise<readonly string[]> {
    const { checkRevision } = await import("../../config/edit/edit-config-text.ts");
    const notes = await this.#options.store.write(async (store) => {
      const row = (await store.servers.list()).find((it) => it.name === name);
      if (row === undefined) return undefined;
      const { id, config } = row;
      if ("entry" in edit && edit.revision !== undefined)
        checkRevision(name, config, edit.revision);
      if (edit.action === "remove") {
        await store.servers.remove(id);
        await this.#options.entryVault.forget(id);
        return [];
      }
      if ("entry" in edit) return await this.#keepRow(store, { name, entry: edit.entry, row });
      await store.servers.put(
        this.#rowOf(name, { ...config, enabled: edit.action === "enable" }, id),
      );
      return [];
    });
    if (notes === undefined) throw notInStore(name);
    return notes;
  }

  /** Makes the row of this id, which another program may have chosen; without one, the row of the server's own id. */
  #rowOf(name: string, entry: EntryInput, id?: string): NewServerRow {
    const provenance = { layer: "store" } as const;
    const config = parseServerEntry(name, entry, { provenance, baseDir: this.#options.cwd });
    return {
      id: id ?? config.id,
      name,
      config: { name, ...entry },
      status: config.enabled ? "idle" : "disabled",
    };
  }
}

async function editFile(
  file: string,
  edit: ConfigEdit,
  options?: EditConfigFileOptions,
): Promise<void> {
  const { editConfigFile } = await import("../../config/edit/edit-config-file.ts");
  await editConfigFile(file, edit, options);
}

/** The entry without where it was imported from, which says nothing about the server. */
function withoutOrigin(entry: Entry): Entry {
  const { importedFrom: _from, ...rest } = entry;
  return rest;
}

function definedInCode(serverName: string): McpError {
  return createError("config_invalid", `"${serverName}" is defined in code, not in a file`, {
    serverName,
    hint: "change it where the host is created",
  });
}

function notInStore(serverName: string): McpError {
  return createError("server_unknown", `no server "${serverName}" in the store`, { serverName });
}

/** Refuses an entry with functions, which nothing but the program that has them can keep. */
function refuseProviders(serverName: string, entry: object): void {
  const { providers } = takeProviders({ ...entry });
  if (providers.size === 0) return;
  throw createError("config_invalid", "a function in place of a value cannot be kept", {
    serverName,
    hint: "keep the secret under a name, and write ${secret:NAME}; or give the entry in code",
  });
}

/**
 * Converts input to an entry as a file, or as a row of the store before its secrets are sealed, holds it. A
 * `ServerConfig` becomes an entry again, with its secrets written out: an entry without them would not work.
 */
function writableEntry(name: string, entry: object, isForFile: boolean): Entry {
  refuseProviders(name, entry);
  if (!("provenance" in entry)) return (isForFile ? revealAll(entry) : { ...entry }) as Entry;
  const { name: _name, ...written } = toJson(parseServerEntry(name, entry), { secrets: "keep" });
  return written;
}
