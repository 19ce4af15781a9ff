import path from "node:path";

import { type ContainerName, convertEntry } from "../../config/edit/convert-entry.ts";
import { removeJsonc, renameJsonc, rewriteJsonc } from "../../config/edit/jsonc-edit.ts";
import { parseJsonc } from "../../config/files/jsonc-document.ts";
import { readConfigText } from "../../config/files/read-config-file.ts";
import { isRecord } from "../../config/keys/check-value.ts";
import { entrySpellings } from "../../config/keys/config-keys.ts";
import { type ConfigProblem, problemError } from "../../config/keys/config-problem.ts";
import { findContainer } from "../../config/parse/find-entries.ts";
import { toJson } from "../../config/parse/to-json.ts";
import { translateEntry } from "../../config/sources/entry-shapes.ts";
import { guessShape } from "../../config/sources/list-entries.ts";
import type { SourceServers } from "../../config/sources/read-source.ts";
import {
  type SourceFile,
  sourceFileAt,
  type SourceGround,
} from "../../config/sources/source-table.ts";
import { createError } from "../../errors/families.ts";
import type { ImportedVariable } from "../host.ts";
import { SecretVariables } from "./entry-secrets.ts";
import { readImport } from "./read-import.ts";

export interface ConvertOptions {
  readonly file: string;
  readonly to: ContainerName;
  readonly ground: SourceGround;
}

export interface ConvertedConfig {
  /** The whole file. */
  readonly text: string;
  /** Names of the servers that can be used. */
  readonly servers: readonly string[];
  /** What cannot be said in the other form. */
  readonly notes: readonly string[];
  readonly problems: readonly ConfigProblem[];
  /** Variables that stand in for secrets, which are never copied. */
  readonly variables: readonly ImportedVariable[];
  /** Whether the text is that of the source but for what differs, with its comments. */
  readonly keepsComments: boolean;
}

type RawEntry = Readonly<Record<string, unknown>>;

/**
 * Writes the servers of a file under the other key. Where the file holds nothing but servers its text is edited, so
 * comments stay; of any other file a new text is made. Throws `config_invalid` for a file that cannot be used.
 */
export async function convertConfig(options: ConvertOptions): Promise<ConvertedConfig> {
  const { ground, to } = options;
  const file = sourceFileAt(path.resolve(ground.workspaceFolder, options.file), ground);
  const read = await readImport(file, ground.workspaceFolder);
  if (read.status === "missing")
    throw createError("config_invalid", `there is no file ${file.path}`);
  if (read.status === "failed") throw problemError([read.problem]);
  const conversion = new Conversion(to, ground.env);
  const edited = await editText(file, conversion);
  const text = edited ?? writeText(read, conversion);
  return {
    text,
    servers: read.servers.map(({ config }) => config.name),
    notes: [
      ...conversion.notes,
      ...read.elsewhere.map(({ name, folder }) => `${name}: is for ${folder}, and was left out`),
    ],
    problems: read.problems,
    variables: conversion.variables,
    keepsComments: edited !== undefined,
  };
}

/** Converts entries one by one, and collects what has to be said about them. */
class Conversion {
  readonly to: ContainerName;
  readonly notes: string[] = [];
  readonly variables: ImportedVariable[] = [];
  readonly #secrets: SecretVariables;

  constructor(to: ContainerName, env: SourceGround["env"]) {
    this.to = to;
    this.#secrets = new SecretVariables(env, new Map());
  }

  entry(name: string, given: RawEntry): RawEntry {
    const { entry: safe, variables } = this.#secrets.replace(name, given);
    this.variables.push(...variables.map((it) => ({ ...it, serverName: name })));
    const { entry, notes } = convertEntry(safe, this.to);
    this.notes.push(...notes.map((text) => `${name}: ${text}`));
    return entry;
  }
}

const fileKeys: ReadonlySet<string> = new Set([
  "$schema",
  "defaults",
  "inputs",
  "servers",
  "mcpServers",
  "mcp_servers",
]);

/** Edits the text of a file that holds servers by name and nothing else; undefined for any other. */
async function editText(file: SourceFile, conversion: Conversion): Promise<string | undefined> {
  const { to } = conversion;
  const read = readConfigText(file.path);
  if (read.status !== "read" || file.path.endsWith(".toml")) return undefined;
  const mark = read.text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const parsed = parseJsonc(read.text.slice(mark.length));
  const value = parsed.ok ? parsed.document.value : undefined;
  if (!isRecord(value) || !Object.keys(value).every((key) => fileKeys.has(key))) return undefined;
  const container = findContainer(value);
  const [key] = container?.path ?? [];
  if (typeof key !== "string" || !isRecord(container?.value)) return undefined;
  if (key !== to && Object.hasOwn(value, to)) {
    if (Object.keys((value[to] as object | null) ?? {}).length > 0)
      throw createError("config_invalid", `${file.path} has both "${key}" and "${to}"`, {
        hint: "keep one of them",
      });
  }
  const shape = file.shape ?? guessShape(value);
  let text = read.text.slice(mark.length);
  for (const [name, entry] of Object.entries(container.value)) {
    if (!isRecord(entry)) continue;
    const { entry: own } = translateEntry(shape, entry);
    const shared = to === "mcpServers" ? missingDefaults(own, value["defaults"]) : {};
    text = rewriteJsonc(text, [key, name], entry, conversion.entry(name, { ...own, ...shared }));
  }
  if (to === "mcpServers" && isRecord(value["defaults"])) text = removeJsonc(text, ["defaults"]);
  if (key === to) return mark + text;
  if (Object.hasOwn(value, to)) text = removeJsonc(text, [to]);
  return mark + renameJsonc(text, [key], to);
}

/** Other programs know no `defaults`, so each entry gets those that it does not have itself. */
function missingDefaults(entry: RawEntry, defaults: unknown): RawEntry {
  if (!isRecord(defaults)) return {};
  const has = new Set(Object.keys(entry).map((key) => entrySpellings.get(key) ?? key));
  return Object.fromEntries(
    Object.entries(defaults).filter(([key]) => !has.has(entrySpellings.get(key) ?? key)),
  );
}

/** Makes a new file of the servers that can be used. */
function writeText({ servers }: SourceServers, conversion: Conversion): string {
  const entries = servers.map(({ config }) => {
    const { name, ...entry } = toJson(config, { secrets: "keep" });
    return [name, conversion.entry(name, entry)] as const;
  });
  const content = { [conversion.to]: Object.fromEntries(entries) };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}
