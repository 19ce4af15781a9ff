import path from "node:path";

import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { canonicalHash } from "../../text/canonical-hash.ts";
import { type JsoncDocument, parseJsonc } from "../files/jsonc-document.ts";
import { type FieldPath, isRecord, quoteName } from "../keys/check-value.ts";
import { entrySpellings, type ServerEntry } from "../keys/config-keys.ts";
import { problemError } from "../keys/config-problem.ts";
import { type Container, findContainer } from "../parse/find-entries.ts";
import { parseConfig } from "../parse/parse-config.ts";
import {
  clearJsonc,
  removeJsonc,
  rewriteJsonc,
  setJsonc,
  wrapInList,
  plain,
} from "./jsonc-edit.ts";
import { prefersSnakeCase, respell } from "./respell-entry.ts";

type RawEntry = Readonly<Record<string, unknown>>;

export type ConfigEdit =
  /** `add` refuses a name that is taken, `replace` one that is not; `put` accepts both. */
  | {
      readonly action: "add" | "replace" | "put";
      readonly name: string;
      readonly entry: ServerEntry | RawEntry;
      /** With `replace`: the `entryRevision` of the entry that may be replaced; any other is refused. */
      readonly revision?: string | undefined;
    }
  | { readonly action: "remove"; readonly name: string }
  /** Disabling a server that is not in the file adds an entry that hides it in farther layers. */
  | { readonly action: "enable" | "disable"; readonly name: string };

/**
 * Edits the text of a configuration file and leaves everything else as it was written. Throws
 * `config_invalid` for a file with syntax errors and for an entry that would not work there, and
 * `server_unknown` for a name that is not in it.
 */
export function editConfigText(text: string, edit: ConfigEdit, file: string): string {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const body = text.slice(mark.length);
  const isNew = body.trim() === "";
  const edited = applyEdit(isNew ? "{}\n" : body, edit, file);
  verify(edited, edit, file);
  return mark + edited;
}

/** Gives an entry as it is written, without its name. Throws as `editConfigText` does. */
export function findConfigEntry(text: string, name: string, file: string): RawEntry {
  const { document, entryPath } = openTarget(text.replace(/^\uFEFF/, ""), name, file);
  const entry = entryPath === undefined ? undefined : valueAt(document.value, entryPath);
  if (!isRecord(entry)) throw unknownServer(name, file);
  const { name: _name, ...written } = plain(entry) as RawEntry;
  return written;
}

/** Names one state of an entry, whatever the order and the form of its text. */
export function entryRevision(entry: RawEntry): string {
  const { name: _name, ...written } = plain(entry) as RawEntry;
  return canonicalHash(written);
}

/** Throws when the entry that is written is not the one that was read. */
export function checkRevision(name: string, entry: unknown, revision: string): void {
  if (isRecord(entry) && entryRevision(entry) === revision) return;
  throw createError("config_invalid", `${quoteName(name)} was changed by somebody else meanwhile`, {
    serverName: name,
    hint: "look at what it is now, and change that",
    details: { isOutdated: true },
  });
}

interface Target {
  readonly text: string;
  readonly document: JsoncDocument;
  readonly container: Container | undefined;
  /** The path of the edited entry; undefined when the file does not have it. */
  readonly entryPath: FieldPath | undefined;
}

function applyEdit(text: string, edit: ConfigEdit, file: string): string {
  const target = openTarget(text, edit.name, file);
  switch (edit.action) {
    case "add":
    case "replace":
    case "put": {
      const isTaken = target.entryPath !== undefined;
      if (edit.action === "add" && isTaken) {
        const { line } = target.document.locate(target.entryPath);
        const message = `${place([file, line])} — ${quoteName(edit.name)} already exists (file not changed)`;
        throw createError("config_invalid", message, {
          details: { path: file, line, isTaken: true },
        });
      }
      if (edit.action === "replace" && !isTaken) throw unknownServer(edit.name, file);
      if (isTaken && edit.revision !== undefined)
        checkRevision(edit.name, valueAt(target.document.value, target.entryPath), edit.revision);
      return isTaken
        ? replaceEntry(target, target.entryPath, edit.entry)
        : addEntry(target, edit.name, edit.entry, file);
    }
    case "remove":
      if (target.entryPath === undefined) throw unknownServer(edit.name, file);
      return removeEntry(target, target.entryPath);
    case "enable":
    case "disable":
      return switchEntry(target, edit, file);
  }
}

function openTarget(text: string, name: string, file: string): Target {
  const document = parseForEdit(text, file);
  const { value } = document;
  const container = findContainer(value);
  const isUsable = container === undefined ? isRecord(value) : typeof container.value === "object";
  if (!isUsable) throw refusal("holds no servers that could be edited", file);
  return { text, document, container, entryPath: findEntryPath(container, name) };
}

function parseForEdit(text: string, file: string): JsoncDocument {
  const parsed = parseJsonc(text);
  if (!parsed.ok) throw refusal(parsed.message, file, parsed.position.line, parsed.position.column);
  const [repeated] = parsed.document.repeatedKeys;
  // With two equal keys, nobody can tell which one the edit is about.
  if (repeated !== undefined)
    throw refusal(`the key ${quoteName(repeated.key)} is repeated`, file, repeated.position.line);
  return parsed.document;
}

function findEntryPath(container: Container | undefined, name: string): FieldPath | undefined {
  if (container === undefined) return undefined;
  const { form, path: at, value } = container;
  const isNamed = (entry: unknown): boolean =>
    isRecord(entry) && typeof entry["name"] === "string" && entry["name"].trim() === name;
  if (form === "single") return isNamed(value) ? [] : undefined;
  if (Array.isArray(value)) {
    const index = value.findIndex((entry) => isNamed(entry));
    return index === -1 ? undefined : [...at, index];
  }
  const key = isRecord(value) ? Object.keys(value).find((own) => own.trim() === name) : undefined;
  return key === undefined ? undefined : [...at, key];
}

function addEntry(
  { text, container }: Target,
  name: string,
  entry: ServerEntry | RawEntry,
  file: string,
): string {
  const written = respell({}, entry, prefersSnakeCase(container?.value));
  if (container === undefined) {
    // Other hosts read this file too, and they know only `mcpServers`.
    const key = path.basename(file) === ".mcp.json" ? "mcpServers" : "servers";
    return setJsonc(text, [key], Object.fromEntries([[name, written]]));
  }
  if (container.form === "object") return setJsonc(text, [...container.path, name], written);
  const { name: _name, ...rest } = written;
  const named = { name, ...rest };
  if (!Array.isArray(container.value)) return wrapInList(text, named);
  return setJsonc(text, [...container.path, container.value.length], named);
}

function replaceEntry(
  { text, document, container }: Target,
  entryPath: FieldPath,
  entry: ServerEntry | RawEntry,
): string {
  const existing = valueAt(document.value, entryPath);
  if (!isRecord(existing)) return setJsonc(text, entryPath, respell({}, entry, false));
  const { name: _name, ...written } = respell(existing, entry, prefersSnakeCase(container?.value));
  const name = Object.hasOwn(existing, "name") ? { name: existing["name"] } : {};
  return rewriteJsonc(text, entryPath, existing, { ...name, ...written });
}

function removeEntry({ text, container }: Target, entryPath: FieldPath): string {
  return container?.form === "single" ? clearJsonc(text) : removeJsonc(text, entryPath);
}

function switchEntry(
  target: Target,
  { action, name }: { readonly action: "enable" | "disable"; readonly name: string },
  file: string,
): string {
  const { text, document, entryPath } = target;
  const enabled = action === "enable";
  const entry = entryPath === undefined ? undefined : valueAt(document.value, entryPath);
  if (entryPath === undefined || !isRecord(entry)) {
    if (enabled) throw unknownServer(name, file);
    return addEntry(target, name, { enabled }, file);
  }
  const keys = new Set(Object.keys(entry).map((key) => entrySpellings.get(key) ?? key));
  const onlyHides = [...keys].every((key) => ["name", "enabled", "disabled"].includes(key));
  if (enabled && onlyHides) return removeEntry(target, entryPath);
  if (enabled && !["command", "url", "transport"].some((key) => keys.has(key)))
    throw refusal(`${quoteName(name)} has neither "command" nor "url"`, file);
  const usesDisabled = keys.has("disabled") && !keys.has("enabled");
  const [key, value] = usesDisabled ? ["disabled", !enabled] : ["enabled", enabled];
  if (entry[key] === value || (enabled && !keys.has(key))) return text;
  return setJsonc(text, [...entryPath, key], value);
}

function valueAt(value: unknown, at: FieldPath): unknown {
  let current = value;
  for (const step of at) current = (current as Readonly<Record<string | number, unknown>>)[step];
  return current;
}

/** Checks the result before it is written: the file must parse, and an entry that was set must work. */
function verify(text: string, edit: ConfigEdit, file: string): void {
  const { value, locate } = parseForEdit(text, file);
  if (!("entry" in edit)) return;
  const { servers, problems } = parseConfig(value, {
    provenance: { layer: "user", path: file },
    locate,
  });
  if (servers.some((server) => server.name === edit.name)) return;
  const own = problems.filter((problem) => problem.serverName === edit.name);
  throw problemError(own.length === 0 ? problems : own);
}

function refusal(message: string, file: string, line?: number, column?: number): McpError {
  const text = `${place([file, line, column])} — ${message} (file not changed)`;
  return createError("config_invalid", text, { details: { path: file, line, column } });
}

function place(parts: readonly (string | number | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(":");
}

function unknownServer(name: string, file: string): McpError {
  return createError("server_unknown", `${file} has no server ${quoteName(name)}`, {
    details: { path: file },
  });
}
