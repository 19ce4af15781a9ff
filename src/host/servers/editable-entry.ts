import { entryRevision } from "../../config/edit/edit-config-text.ts";
import { parseJsonc } from "../../config/files/jsonc-document.ts";
import { maxConfigBytes } from "../../config/files/read-config-file.ts";
import { entrySpellings } from "../../config/keys/config-keys.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { isJsonObject } from "../../text/json-object.ts";
import { findSecrets, mapAt, refuseSecrets } from "../files/entry-secrets.ts";
import type { EditableEntry } from "../host.ts";

type Entry = Readonly<Record<string, unknown>>;

/** What stands for a secret while an entry is edited: no file is written that holds it. */
const placeholder = /\[secret: [^\]]*\]/g;

/** Makes an entry ready to be changed by somebody: secrets that are written out in it become placeholders. */
export function editableEntry(written: Entry): EditableEntry {
  let entry = written;
  for (const { path, mark, credential } of marksOf(written))
    entry = mapAt(entry, path, (text) => text.replaceAll(credential, () => mark)) as Entry;
  return { entry, revision: entryRevision(written) };
}

/** Puts the secrets of the entry that is written in the place of their placeholders. Throws for one that has none. */
export function restoreSecrets(serverName: string, entry: Entry, written: Entry): Entry {
  const secrets = new Map(marksOf(written).map(({ mark, credential }) => [mark, credential]));
  return mapTexts(entry, (text) =>
    text.replaceAll(placeholder, (mark) => {
      const secret = secrets.get(mark);
      if (secret !== undefined) return secret;
      throw createError("config_invalid", `${mark} stands for nothing that is written`, {
        serverName,
        hint: "refer to a variable instead: ${VARIABLE}",
      });
    }),
  ) as Entry;
}

export function hasPlaceholders(entry: object): boolean {
  return JSON.stringify(entry).search(placeholder) !== -1;
}

/** Refuses an edited entry that holds a secret; placeholders stand for those that are written already. */
export function refuseNewSecrets(entry: Entry): void {
  refuseSecrets(
    canonical(mapTexts(entry, (text) => text.replaceAll(placeholder, "${KEPT}")) as Entry),
  );
}

interface Mark {
  readonly path: readonly (string | number)[];
  readonly mark: string;
  readonly credential: string;
}

function marksOf(written: Entry): readonly Mark[] {
  const spelling = new Map(
    Object.keys(written).map((key) => [entrySpellings.get(key) ?? key, key] as const),
  );
  const counts = new Map<string, number>();
  return findSecrets(canonical(written)).map(({ path: [key, ...rest], credential }) => {
    const place = [key, ...rest].join(".").replaceAll(/[[\]]/g, "");
    const count = (counts.get(place) ?? 0) + 1;
    counts.set(place, count);
    const mark = `[secret: ${count === 1 ? place : `${place} ${count}`}]`;
    return { path: [spelling.get(String(key)) ?? String(key), ...rest], mark, credential };
  });
}

/** The entry with the names of keys that the documentation uses. */
function canonical(entry: Entry): Entry {
  return Object.fromEntries(
    Object.entries(entry).map(([key, value]) => [entrySpellings.get(key) ?? key, value]),
  );
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((item: unknown) => mapTexts(item, map));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)] as const),
  );
}

/** Reads the text of an edited entry. Throws `config_invalid` with the place of what is wrong. */
export function parseEntryText(text: string): Entry {
  if (Buffer.byteLength(text) > maxConfigBytes) throw unreadable("is larger than 1 MiB");
  const parsed = parseJsonc(text.replace(/^\uFEFF/, ""));
  if (!parsed.ok) {
    const { line, column } = parsed.position;
    throw unreadable(`line ${line}, column ${column}: ${parsed.message}`);
  }
  const { value, repeatedKeys } = parsed.document;
  const [repeated] = repeatedKeys;
  if (repeated !== undefined) throw unreadable(`the key "${repeated.key}" is repeated`);
  if (!isJsonObject(value)) throw unreadable("is not a JSON object");
  return JSON.parse(JSON.stringify(value)) as Entry;
}

function unreadable(reason: string): McpError {
  return createError("config_invalid", `the entry: ${reason}`);
}

const timeoutKeys: ReadonlySet<string> = new Set(
  ["timeout", "connectTimeout", "callTimeout"].flatMap((key) => [key, `${key}Ms`]),
);
const processKeys = ["command", "args", "env"];
const addressKeys = ["url", "headers", "transport"];

/**
 * Puts what was named into an entry: variables and headers are added to the others or take the place of the one of
 * their name, all else takes the place of what was there. Throws `invalid_arguments` for what does not fit the entry.
 */
export function changeEntry(serverName: string, written: Entry, change: Entry): Entry {
  const entry = canonical(written);
  const isAddress = entry["url"] !== undefined;
  const foreign = Object.keys(change).find((key) =>
    (isAddress ? processKeys : addressKeys).includes(key),
  );
  if (foreign !== undefined) throw misfit(serverName, foreign, isAddress);
  const { env, headers, timeoutMs, ...others } = change;
  const isReplaced = (key: string): boolean =>
    (key === "args" && change["command"] !== undefined) ||
    (timeoutMs !== undefined && timeoutKeys.has(key));
  const kept = Object.fromEntries(Object.entries(entry).filter(([key]) => !isReplaced(key)));
  return {
    ...kept,
    ...others,
    ...(env === undefined ? {} : { env: withMembers(entry["env"], env, (name) => name) }),
    ...(headers === undefined
      ? {}
      : { headers: withMembers(entry["headers"], headers, (name) => name.toLowerCase()) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

function withMembers(before: unknown, added: unknown, identity: (name: string) => string): Entry {
  const members = isJsonObject(added) ? added : {};
  const replaced = new Set(Object.keys(members).map((name) => identity(name)));
  const others = Object.entries(isJsonObject(before) ? before : {}).filter(
    ([name]) => !replaced.has(identity(name)),
  );
  return { ...Object.fromEntries(others), ...members };
}

function misfit(serverName: string, key: string, isAddress: boolean): McpError {
  const is = isAddress ? "is reached at an address" : "is started by a command";
  return createError("invalid_arguments", `"${serverName}" ${is}, and has no "${key}"`, {
    serverName,
    hint: "edit the whole entry in your editor, or remove it and add it anew",
  });
}
