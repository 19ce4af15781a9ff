import path from "node:path";

import { type FieldPath, isRecord } from "../keys/check-value.ts";
import { findContainer } from "../parse/find-entries.ts";
import type { EntryShapeName } from "./source-table.ts";

/** An entry of a file of another program, where it stands. */
export interface ListedEntry {
  /** Undefined in a list, where the entry itself holds its name. */
  readonly name: string | undefined;
  readonly value: unknown;
  readonly path: FieldPath;
  /** The folder that the entry is for, where the file has entries for several. */
  readonly folder?: string;
  /** True when the file switches the server off in another place than the entry. */
  readonly isSwitchedOff?: boolean;
}

export interface ListedEntries {
  readonly entries: readonly ListedEntry[];
  /** Servers that the file has for other folders than the current one. */
  readonly elsewhere: readonly { readonly name: string; readonly folder: string }[];
  /** Declarations of what a person is asked for, shared by all entries. */
  readonly inputs?: unknown;
}

/** Lists the entries of a file; undefined when it has no place for servers at all. */
export function listEntries(
  value: unknown,
  shape: EntryShapeName,
  workspaceFolder: string,
): ListedEntries | undefined {
  if (shape === "claude-code" && isRecord(value) && isRecord(value["projects"]))
    return listOfClaudeCode(value, workspaceFolder);
  if (shape === "opencode") return isRecord(value) ? listOfOpenCode(value) : undefined;
  const listed = listPlain(value) ?? listNested(value);
  return shape === "gemini" && isRecord(value) ? switchOffExcluded(value, listed) : listed;
}

/** Guesses how the entries of a file are written that no known program keeps there. */
export function guessShape(value: unknown): EntryShapeName {
  if (!isRecord(value)) return "plain";
  if (isRecord(value["projects"])) return "claude-code";
  const { mcp } = value;
  if (
    isRecord(mcp) &&
    members([], isRecord(mcp["servers"]) ? mcp["servers"] : mcp).some(isOpenCode)
  )
    return "opencode";
  if (Array.isArray(value["inputs"])) return "vscode";
  const entries = listPlain(value)?.entries ?? [];
  const hasKey = (key: string): boolean =>
    entries.some((entry) => isRecord(entry.value) && key in entry.value);
  return ["httpUrl", "includeTools", "excludeTools"].some(hasKey) ? "gemini" : "plain";
}

function isOpenCode({ value }: ListedEntry): boolean {
  return isRecord(value) && (value["type"] === "local" || value["type"] === "remote");
}

function listPlain(value: unknown): ListedEntries | undefined {
  const container = findContainer(value);
  if (container === undefined) return undefined;
  const { form, path: at, value: held } = container;
  const inputs =
    isRecord(value) && value["inputs"] !== undefined ? { inputs: value["inputs"] } : {};
  if (form === "single")
    return { entries: [{ name: undefined, value: held, path: at }], elsewhere: [], ...inputs };
  if (Array.isArray(held)) {
    const entries = held.map((item: unknown, index) => ({
      name: undefined,
      value: item,
      path: [...at, index],
    }));
    return { entries, elsewhere: [], ...inputs };
  }
  return isRecord(held) ? { entries: members(at, held), elsewhere: [], ...inputs } : undefined;
}

/** Lists the servers of settings that hold them under `mcp.servers`. */
function listNested(value: unknown): ListedEntries | undefined {
  const mcp = isRecord(value) ? value["mcp"] : undefined;
  if (!isRecord(mcp) || !isRecord(mcp["servers"])) return undefined;
  const inputs = mcp["inputs"] === undefined ? {} : { inputs: mcp["inputs"] };
  return { entries: members(["mcp", "servers"], mcp["servers"]), elsewhere: [], ...inputs };
}

/** Lists `mcp`, which holds the servers themselves in its first version and under `servers` in its second. */
function listOfOpenCode(value: Readonly<Record<string, unknown>>): ListedEntries | undefined {
  const { mcp } = value;
  if (!isRecord(mcp)) return undefined;
  const { servers } = mcp;
  const isSecond = isRecord(servers) && !("type" in servers && "command" in servers);
  const entries = isSecond ? members(["mcp", "servers"], servers) : members(["mcp"], mcp);
  return { entries, elsewhere: [] };
}

/** Lists the user's servers and those for the current folder, which win over them. */
function listOfClaudeCode(
  value: Readonly<Record<string, unknown>>,
  workspaceFolder: string,
): ListedEntries {
  const projects = Object.entries(value["projects"] as Readonly<Record<string, unknown>>).filter(
    (project): project is [string, Readonly<Record<string, unknown>>] => isRecord(project[1]),
  );
  const inFolder = (folder: string): boolean => path.resolve(folder) === workspaceFolder;
  const ofFolder = (at: FieldPath, project: Readonly<Record<string, unknown>>) =>
    isRecord(project["mcpServers"]) ? members([...at, "mcpServers"], project["mcpServers"]) : [];

  const own = projects.find(([folder]) => inFolder(folder));
  const near =
    own === undefined
      ? []
      : ofFolder(["projects", own[0]], own[1]).map((it) => ({ ...it, folder: own[0] }));
  const isOff = namesIn(own?.[1]["disabledMcpServers"]);
  const nearNames = new Set(near.map(({ name }) => name));
  const everywhere = isRecord(value["mcpServers"])
    ? members(["mcpServers"], value["mcpServers"])
    : [];
  const elsewhere = projects.flatMap(([folder, project]) =>
    inFolder(folder) ? [] : ofFolder([], project).flatMap(({ name = "" }) => ({ name, folder })),
  );
  const entries = [...near, ...everywhere.filter(({ name }) => !nearNames.has(name))];
  return { entries: entries.map((it) => switchOff(it, isOff.has(it.name ?? ""))), elsewhere };
}

/** Applies `mcp.excluded` and `mcp.allowed` of Gemini's settings. */
function switchOffExcluded(
  { mcp }: Readonly<Record<string, unknown>>,
  listed: ListedEntries | undefined,
): ListedEntries | undefined {
  if (listed === undefined || !isRecord(mcp)) return listed;
  const excluded = namesIn(mcp["excluded"]);
  const allowed = Array.isArray(mcp["allowed"]) ? namesIn(mcp["allowed"]) : undefined;
  const isOff = (name: string): boolean => excluded.has(name) || allowed?.has(name) === false;
  const entries = listed.entries.map((it) => switchOff(it, isOff(it.name ?? "")));
  return { ...listed, entries };
}

function switchOff(entry: ListedEntry, isSwitchedOff: boolean): ListedEntry {
  return isSwitchedOff ? { ...entry, isSwitchedOff } : entry;
}

function namesIn(list: unknown): ReadonlySet<unknown> {
  return new Set(Array.isArray(list) ? (list as readonly unknown[]) : []);
}

function members(at: FieldPath, held: Readonly<Record<string, unknown>>): readonly ListedEntry[] {
  return Object.entries(held).map(([name, value]) => ({ name, value, path: [...at, name] }));
}
