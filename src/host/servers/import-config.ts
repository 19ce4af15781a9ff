import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import path from "node:path";

import { baseDirOf, isOtherHostsFile } from "../../config/files/config-files.ts";
import { readConfigFile } from "../../config/files/read-config-file.ts";
import { type ConfigProblem, problemError } from "../../config/keys/config-problem.ts";
import type { ConfigText, ServerConfig } from "../../config/keys/server-config.ts";
import { findContainer } from "../../config/parse/find-entries.ts";
import { parseConfig, type ParsedConfig } from "../../config/parse/parse-config.ts";
import { toJson } from "../../config/parse/to-json.ts";
import { keepUnique } from "../../config/parse/unique-servers.ts";
import { isSecretValue } from "../../config/variables/secret-values.ts";
import { createError } from "../../errors/families.ts";
import type { HostStore } from "../../store/host-store.ts";
import { readKuseDatabase } from "../../store/sqlite/read-kuse-database.ts";
import { reveal, SecretText } from "../../text/secrets/secret-text.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import type {
  EntryInput,
  ImportOptions,
  ImportResult,
  ServerScope,
  SkippedServer,
} from "../host.ts";

export interface ImportParts {
  readonly cwd: string;
  readonly store: HostStore;
  /** Writes one entry, whose relative paths are meant from `base`; gives what is kept differently. */
  readonly add: (
    name: string,
    entry: EntryInput,
    scope: ServerScope,
    base: string,
  ) => Promise<readonly string[]>;
  /** The servers that the host has already. */
  readonly servers: readonly ServerConfig[];
}

const layer = "user";

/**
 * Writes the servers of a file of another program to where this host keeps servers. What is there
 * already stays as it is, so that an import can be repeated. Throws when the file as a whole cannot be
 * used, and when something cannot be written: what was written until then stays.
 */
export async function importConfig(
  options: ImportOptions,
  parts: ImportParts,
): Promise<ImportResult> {
  const { from, scope = "user", dryRun = false } = options;
  const file = path.resolve(parts.cwd, from);
  const source = await readSource(file);
  const rows = await parts.store.read(({ servers }) => servers.list(), []);
  const taken = new Set([
    ...parts.servers.map(({ name }) => name),
    // An entry that cannot be read is no server, and must not be overwritten all the same.
    ...rows.map(({ name }) => name),
  ]);
  const clashes = keepUnique([...parts.servers, ...source.servers]).problems;

  const imported: string[] = [];
  const skipped = [...source.skipped];
  const notes: string[] = [];
  for (const config of source.servers) {
    const { name } = config;
    const reason = obstacle(config, { taken, clashes, scope });
    if (reason !== undefined) {
      skipped.push({ name, reason });
      continue;
    }
    const { entry, isWithoutSecret } = entryOf(config);
    const changes = dryRun ? [] : await parts.add(name, entry, scope, baseDirOf(file));
    imported.push(name);
    const warnings = source.warnings.get(name) ?? [];
    const hints = isWithoutSecret || source.withSecret.has(name) ? [secretHint] : [];
    notes.push(...[...warnings, ...hints, ...changes].map((text) => `${name}: ${text}`));
  }
  return { imported, skipped, notes };
}

interface Source {
  readonly servers: readonly ServerConfig[];
  readonly skipped: readonly SkippedServer[];
  /** Texts by server name. */
  readonly warnings: ReadonlyMap<string, readonly string[]>;
  /** Names of servers that had a secret beside their entry. */
  readonly withSecret: ReadonlySet<string>;
}

async function readSource(file: string): Promise<Source> {
  return (await isSqlite(file)) ? await readDatabase(file) : await readFile(file);
}

async function readFile(file: string): Promise<Source> {
  const read = await readConfigFile(file, layer);
  if (read.status === "missing") throw createError("config_invalid", `there is no file ${file}`);
  if (read.status === "failed") throw problemError([read.problem]);
  const { value, locate } = read;
  if (findContainer(value) === undefined)
    throw createError("config_invalid", `${file} holds no servers`, {
      hint: 'they are looked for under "mcpServers" and "servers"',
    });
  const provenance = { layer, path: file } as const;
  const isOfOtherHost = isOtherHostsFile(file);
  const options = { provenance, baseDir: baseDirOf(file), locate, isOfOtherHost };
  return sourceOf(parseConfig(value, options));
}

async function readDatabase(file: string): Promise<Source> {
  const { entries, problems } = await readKuseDatabase(file);
  const list = entries.map(({ name, entry }) => ({ ...entry, name }));
  const source = sourceOf(parseConfig(list, { provenance: { layer, path: file } }));
  const unread = problems.map(({ id = "", text }) => ({
    name: boundedLine(id, 128),
    reason: text,
  }));
  const withSecret = entries.filter(({ clientSecret }) => clientSecret !== undefined);
  return {
    ...source,
    skipped: [...unread, ...source.skipped],
    withSecret: new Set(withSecret.map(({ name }) => name.trim())),
  };
}

/** Skips an entry that is wrong; throws when the source as a whole cannot be used. */
function sourceOf({ servers, problems }: ParsedConfig): Source {
  const errors = problems.filter(({ severity }) => severity === "error");
  if (servers.length === 0 && errors.some(({ serverName }) => serverName === undefined))
    throw problemError(errors);
  const reasons = messagesByServer(errors);
  return {
    servers,
    skipped: [...reasons].map(([name, messages]) => ({ name, reason: messages.join("; ") })),
    warnings: messagesByServer(problems.filter(({ severity }) => severity === "warning")),
    withSecret: new Set(),
  };
}

function messagesByServer(
  problems: readonly ConfigProblem[],
): ReadonlyMap<string, readonly string[]> {
  const messages = new Map<string, string[]>();
  for (const { serverName = "", message } of problems)
    messages.set(serverName, [...(messages.get(serverName) ?? []), message]);
  return messages;
}

interface Obstacles {
  readonly taken: ReadonlySet<string>;
  readonly clashes: readonly ConfigProblem[];
  readonly scope: NonNullable<ImportOptions["scope"]>;
}

function obstacle(config: ServerConfig, { taken, clashes, scope }: Obstacles): string | undefined {
  if (taken.has(config.name)) return "there is a server of that name already";
  if (scope === "project" && holdsSecrets(config))
    return "it holds what may be a secret, which does not belong in a project's file";
  return clashes.find(({ serverName }) => serverName === config.name)?.message;
}

function holdsSecrets({ transport, auth }: ServerConfig): boolean {
  if (auth.type === "bearer" && SecretText.is(auth.token)) return true;
  if ("url" in transport)
    return SecretText.is(transport.url) || Object.entries(transport.headers).some(isSecret);
  if (transport.kind !== "stdio") return false;
  return (
    transport.args.some((arg) => SecretText.is(arg)) || Object.entries(transport.env).some(isSecret)
  );
}

function isSecret([name, value]: readonly [string, ConfigText]): boolean {
  return SecretText.is(value) && isSecretValue(name, reveal(value));
}

const secretHint =
  "its OAuth client secret was left out; name a variable that holds it in auth.clientSecret";

/** Secrets of the program itself are not copied in clear; a variable that holds one may be named. */
function entryOf(config: ServerConfig): {
  readonly entry: EntryInput;
  readonly isWithoutSecret: boolean;
} {
  const { name: _name, ...entry } = toJson(config, { secrets: "keep" });
  const { auth } = config;
  if (auth.type !== "oauth") return { entry, isWithoutSecret: false };
  const { clientSecret, privateKey, ...rest } = auth;
  const given = Object.entries({ clientSecret, privateKey }).filter(
    ([, value]) => value !== undefined,
  );
  const kept = given.filter(([, value]) => !SecretText.is(value));
  return {
    entry: { ...entry, auth: { ...rest, ...Object.fromEntries(kept) } },
    isWithoutSecret: kept.length < given.length,
  };
}

async function isSqlite(file: string): Promise<boolean> {
  const magic = Buffer.from("SQLite format 3\0");
  const start = Buffer.alloc(magic.length);
  let handle: FileHandle | undefined;
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    await handle.read(start, 0, start.length, 0);
    return start.equals(magic);
  } catch {
    // Reading the whole file reports why it cannot be read.
    return false;
  } finally {
    await handle?.close();
  }
}
