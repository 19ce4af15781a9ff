import { randomBytes } from "node:crypto";

import type { FieldPath } from "../../config/keys/check-value.ts";
import {
  entrySecretName,
  entrySecretPrefix,
  withoutEditions,
} from "../../config/variables/secret-names.ts";
import {
  escapeTemplate,
  isPureReference,
  parseTemplate,
  type TemplatePart,
} from "../../config/variables/variable-reference.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { SecretVault } from "../../secrets/secret-vault.ts";
import { isJsonObject } from "../../text/json-object.ts";
import { revealAll, SecretText } from "../../text/secrets/secret-text.ts";
import { findSecrets, isWord, mapAt, withExpandedArgs } from "../files/entry-secrets.ts";

type Entry = Readonly<Record<string, unknown>>;

/** An entry without its secrets, and the secrets that it refers to now but are not in the vault yet. */
export interface SealedEntry {
  readonly entry: Entry;
  /** What was written in the entry, references included, by the name that the vault is to know it under. */
  readonly values: ReadonlyMap<string, string>;
  /** What is kept differently from what was given, in words. */
  readonly notes: readonly string[];
}

/** Matches references to secrets of stored entries. */
const entryReference = /\$\{secret:(entry\/[^{}\s]{1,512})\}/g;

/**
 * Keeps the secrets of stored entries in the vault; their rows hold references. A secret is written before the row
 * that refers to it, under a name that no other row has: whatever happens in between, every row finds its own.
 */
export class EntryVault {
  readonly #vault: SecretVault;

  constructor(vault: SecretVault) {
    this.#vault = vault;
  }

  /**
   * Replaces the secrets of an entry by references: what looks like one, and each `SecretText`, whoever made it knows
   * best. A reference to a secret of another entry, which a configuration
   * that was read before may hold, becomes one to a copy. Writes nothing.
   */
  async seal(serverId: string, given: Entry): Promise<SealedEntry> {
    const values = new Map<string, string>();
    const fields = new Set<string>();
    const put = (path: FieldPath, text: string): string => {
      const name = entrySecretName(serverId, path, randomBytes(9).toString("base64url"));
      values.set(name, text);
      return `\${secret:${name}}`;
    };
    const flat = flatten(given);
    const secretPaths = secretTexts(flat);
    let entry = revealAll(flat) as Entry;
    for (const name of namesIn(entry)) {
      if (name.startsWith(entrySecretPrefix(serverId))) continue;
      const text = await this.#vault.read(name);
      // A reference that leads nowhere is told when the server starts.
      if (text === undefined) continue;
      const path = [decodeURIComponent(/\/([^/@]*)@/.exec(name)?.[1] ?? "copy")];
      entry = replaceTexts(entry, `\${secret:${name}}`, put(path, text));
    }
    const found = [...secretPaths, ...findSecrets(entry).map(({ path }) => path)];
    if (found.some(isWord)) entry = withExpandedArgs(entry);
    for (const path of secretPaths)
      entry = mapAt(entry, path, (text) => {
        if (isPureReference(text) || text === "") return text;
        fields.add(path.join("."));
        return put(path, text);
      }) as Entry;
    // Once more for a text in which the secret is not written as it reads: all of it is one then.
    for (const isWhole of [false, true])
      for (const { path, credential } of findSecrets(entry)) {
        fields.add(path.join("."));
        const sealText = (text: string): string => sealTemplate(text, (part) => put(path, part));
        const replace = (text: string): string =>
          isWhole ? put(path, text) : text.replaceAll(credential, sealText);
        entry = mapAt(entry, path, replace) as Entry;
      }
    const notes = [...fields].map(
      (field) => `"${field}" is a secret: it is kept sealed, apart from the entry`,
    );
    return { entry, values, notes };
  }

  /** Writes the secrets of a sealed entry. What was written until it throws is removed again. */
  async write({ values }: SealedEntry): Promise<void> {
    try {
      for (const [name, text] of values) await this.#vault.write(name, text);
    } catch (error) {
      await this.discard({ values }).catch(() => undefined);
      throw error;
    }
  }

  /** Removes the secrets of a sealed entry that is not kept after all. */
  async discard({ values }: Pick<SealedEntry, "values">): Promise<void> {
    for (const name of values.keys()) await this.#vault.remove(name);
  }

  /** Removes the secrets that an entry referred to and the one in its place does not. */
  async release(serverId: string, before: Entry, now: Entry): Promise<void> {
    const kept = new Set(namesIn(now));
    const own = entrySecretPrefix(serverId);
    for (const name of namesIn(before))
      if (name.startsWith(own) && !kept.has(name)) await this.#vault.remove(name);
  }

  /** Removes all secrets of a server that is no longer stored. */
  async forget(serverId: string): Promise<void> {
    for (const name of await this.#vault.names(entrySecretPrefix(serverId)))
      await this.#vault.remove(name);
  }

  /** Whether an entry that is stored says the same as a sealed one, secrets included. */
  async isAlike(stored: Entry, sealed: SealedEntry): Promise<boolean> {
    const [one, other] = [JSON.stringify(stored), JSON.stringify(sealed.entry)];
    if (withoutEditions(one) !== withoutEditions(other)) return false;
    const [names, others] = [namesIn(stored), namesIn(sealed.entry)];
    try {
      for (const [index, name] of names.entries()) {
        const otherName = others[index] ?? "";
        if (name === otherName) continue;
        if ((await this.#vault.read(name)) !== sealed.values.get(otherName)) return false;
      }
      return true;
    } catch (error) {
      // What cannot be read cannot be compared.
      if (McpError.is(error, "secret_unavailable")) return false;
      throw error;
    }
  }
}

/** Lists the secrets of stored entries that an entry refers to, in the order they are written. */
export function namesIn(entry: Entry): readonly string[] {
  return [...JSON.stringify(entry).matchAll(entryReference)].map(([, name = ""]) => name);
}

/** Finds the places of an entry that hold a `SecretText`. */
function secretTexts(value: unknown, path: FieldPath = []): readonly FieldPath[] {
  if (SecretText.is(value)) return [path];
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) => secretTexts(item, [...path, index]));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => secretTexts(item, [...path, key]));
}

/** Writes the keys of an object `transport` beside the others: the same entry. */
function flatten(entry: Entry): Entry {
  const { transport } = entry;
  if (!isJsonObject(transport)) return entry;
  const { kind, type, ...keys } = transport;
  const { transport: _transport, ...rest } = entry;
  return { ...rest, ...((kind ?? type) === undefined ? {} : { transport: kind ?? type }), ...keys };
}

/** Seals the parts of a template that are written out; a reference stays, so that it is seen what the entry needs. */
function sealTemplate(template: string, seal: (text: string) => string): string {
  const parts = parseTemplate(template);
  if (parts.some(({ type }) => type === "malformed")) return seal(template);
  return parts.map((part) => (isClear(part) ? sourceOf(part) : seal(sourceOf(part)))).join("");
}

function isClear(part: TemplatePart): boolean {
  switch (part.type) {
    case "text":
      return !/[\p{L}\p{N}]/u.test(part.text);
    case "variable":
      return part.fallback === undefined;
    case "input":
    case "secret":
    case "folder":
      return true;
    case "foreign":
    case "malformed":
      return false;
  }
}

function sourceOf(part: TemplatePart): string {
  if (part.type === "malformed") return "";
  return part.type === "text" ? escapeTemplate(part.text) : part.source;
}

function replaceTexts(entry: Entry, from: string, to: string): Entry {
  const replace = (value: unknown): unknown => {
    if (typeof value === "string") return value.replaceAll(from, () => to);
    if (Array.isArray(value)) return value.map(replace);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replace(item)]));
  };
  return replace(entry) as Entry;
}
