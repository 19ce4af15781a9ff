import { entryRevision } from "../../config/edit/edit-config-text.ts";
import { parseJsonc } from "../../config/files/jsonc-document.ts";
import { maxConfigBytes } from "../../config/files/read-config-file.ts";
import { entrySpellings } from "../../config/keys/config-keys.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { isJsonObject } from "../../text/json-object.ts";
import { mask } from "../../text/secrets/redact.ts";
import { SecretText } from "../../text/secrets/secret-text.ts";
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

/**
 * Puts what is written in the place of placeholders, and of masks that stand where it stands. Throws for a placeholder
 * that stands for nothing.
 */
export function restoreSecrets(serverName: string, edited: Entry, written: Entry): Entry {
  const entry = restoreMasks(edited, canonical(written));
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

/** Whether an entry has placeholders, or masks as printed output has them. */
export function hasPlaceholders(entry: object): boolean {
  const text = JSON.stringify(entry);
  return text.includes(mask) || text.search(placeholder) !== -1;
}

function restoreMasks(entry: Entry, written: Entry): Entry {
  const restored = Object.entries(entry).map(([key, members]) => {
    const before = written[entrySpellings.get(key) ?? key];
    if (!isJsonObject(members) || !isJsonObject(before)) return [key, members] as const;
    const values = Object.entries(members).map(([name, value]) => {
      const isKept = value === mask && typeof before[name] === "string";
      return [name, isKept ? before[name] : value] as const;
    });
    return [key, Object.fromEntries(values)] as const;
  });
  return Object.fromEntries(restored);
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
  const counts = new Map<string, number>();
  return [...findSecrets(written), ...sealedTexts(written)].map(({ path, credential }) => {
    const [key = "", ...rest] = path;
    const place = [entrySpellings.get(String(key)) ?? key, ...rest].join(".");
    const plain = place.replaceAll(/[[\]]/g, "");
    const count = (counts.get(plain) ?? 0) + 1;
    counts.set(plain, count);
    const mark = `[secret: ${count === 1 ? plain : `${plain} ${count}`}]`;
    return { path, mark, credential };
  });
}

/** Finds references to secrets that were sealed for the entry: whoever edits it sees the secret's place. */
function sealedTexts(
  value: unknown,
  path: readonly (string | number)[] = [],
): readonly Omit<Mark, "mark">[] {
  if (typeof value === "string")
    return [...value.matchAll(/\$\{secret:entry\/[^{}\s]+\}/g)].map(([credential]) => ({
      path,
      credential,
    }));
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) => sealedTexts(item, [...path, index]));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => sealedTexts(item, [...path, key]));
}

/** The entry with the names of keys that the documentation uses. */
function canonical(entry: Entry): Entry {
  return Object.fromEntries(
    Object.entries(entry).map(([key, value]) => [entrySpellings.get(key) ?? key, value]),
  );
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (SecretText.is(value)) return value;
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
const addressKeys = ["url", "headers", "transport", "auth"];

/**
 * Puts what was named into an entry: variables and headers are added to the others or take the place of the one of
 * their name, and so are settings of the same kind of sign-in; all else takes the place of what was there. Throws `invalid_arguments` for what does not fit the entry.
 */
export function changeEntry(serverName: string, written: Entry, change: Entry): Entry {
  const entry = canonical(written);
  const isAddress = entry["url"] !== undefined;
  const foreign = Object.keys(change).find((key) =>
    (isAddress ? processKeys : addressKeys).includes(key),
  );
  if (foreign !== undefined) throw misfit(serverName, foreign, isAddress);
  const { env, headers, auth, timeoutMs, ...others } = change;
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
    ...(auth === undefined ? {} : { auth: withAuth(entry["auth"], auth) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

function withAuth(before: unknown, change: unknown): unknown {
  const isSameKind =
    isJsonObject(before) && isJsonObject(change) && before["type"] === change["type"];
  return isSameKind ? { ...before, ...change } : change;
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
