import type { FieldPath } from "../../config/keys/check-value.ts";
import { entrySpellings } from "../../config/keys/config-keys.ts";
import { isCredentialWord } from "../../config/parse/hide-secrets.ts";
import { looksSecret } from "../../config/variables/secret-values.ts";
import {
  escapeTemplate,
  escapeVariables,
  parseTemplate,
} from "../../config/variables/variable-reference.ts";
import { createError } from "../../errors/families.ts";
import { isJsonObject } from "../../text/json-object.ts";
import { credentialsIn } from "../../text/secrets/redact.ts";
import { SecretText } from "../../text/secrets/secret-text.ts";

type Entry = Readonly<Record<string, unknown>>;

/** A secret that is written out in an entry. */
interface EntrySecret {
  /** The place of the text that holds it. */
  readonly path: FieldPath;
  /** The place in words. */
  readonly where: string;
  /** What to do about it on the command line. */
  readonly hint: string;
  /** The option with which a command asks for it instead; absent where there is none. */
  readonly askedWith?: string | undefined;
  /** The part of the text that is secret. */
  readonly credential: string;
  /** A name for a variable that could hold it. */
  readonly variable: string;
}

/** Finds the secrets that are written out in an entry. References to variables are none. */
export function findSecrets(entry: Entry): readonly EntrySecret[] {
  const fields = fieldsOf(entry);
  return [
    ...fields("env").flatMap(namedSecrets("env")),
    ...fields("headers").flatMap(namedSecrets("headers")),
    ...fields("auth").flatMap(namedSecrets("auth")),
    ...fields("url").flatMap(addressSecrets),
    ...fields("messageEndpoint").flatMap(addressSecrets),
    ...fields("command").flatMap(wordSecrets),
    ...fields("args").flatMap(wordSecrets),
  ];
}

/** A key of an entry, and where it stands. */
interface Field {
  readonly value: unknown;
  readonly path: FieldPath;
}

/** Finds the keys of an entry by their documented names, however they are spelt, also in an object `transport`. */
function fieldsOf(entry: Entry): (key: string) => readonly Field[] {
  const found = new Map<string, Field[]>();
  const collect = (members: Entry, at: FieldPath): void => {
    for (const [written, value] of Object.entries(members)) {
      const key = entrySpellings.get(written) ?? written;
      const path = [...at, written];
      if (key === "transport" && isJsonObject(value) && at.length === 0) collect(value, path);
      else found.set(key, [...(found.get(key) ?? []), { value, path }]);
    }
  };
  collect(entry, []);
  return (key) => found.get(key) ?? [];
}

/**
 * Refuses an entry that holds a secret where it must not: in a file, or in the words of a command. The error says where
 * it stands and what to do instead, and repeats no part of it.
 */
export function refuseSecrets(
  entry: Entry,
  { canAsk = false }: { readonly canAsk?: boolean } = {},
): void {
  refuse(findSecrets(entry)[0], canAsk);
}

function refuse(first: EntrySecret | undefined, canAsk = false): void {
  if (first === undefined) return;
  const { where, hint, askedWith } = first;
  const message = `${where}: this looks like a secret, and is not kept`;
  throw createError("invalid_arguments", message, {
    hint: canAsk && askedWith !== undefined ? `give it where nobody sees it: ${askedWith}` : hint,
  });
}

/**
 * Refuses an entry that is to be written into a file, where it has a secret that is not written there yet, or refers to
 * one that belongs to a stored entry.
 */
export function refuseFileSecrets(entry: Entry, written: Entry = {}): void {
  const known = new Set(findSecrets(written).map(({ credential }) => credential));
  refuse(findSecrets(entry).find(({ credential }) => !known.has(credential)));
  if (JSON.stringify(entry).includes("${secret:entry/"))
    throw createError("invalid_arguments", "a secret of a stored entry is for that entry", {
      hint: "keep it under a name of its own, and write ${secret:NAME}",
    });
}

/** Makes a secret that is used as it is: what looks like a reference in it is text. */
export function literalSecret(text: string): SecretText {
  return new SecretText(escapeTemplate(text));
}

/** A variable that an entry refers to in place of a secret. */
export interface SecretVariable {
  readonly name: string;
  /** The dotted path of the key inside the entry. */
  readonly field: string;
  /** True when the environment has it, with the very value that was replaced. */
  readonly isSet: boolean;
}

/** Chooses variables for the secrets of several entries: no variable stands for two different secrets. */
export class SecretVariables {
  readonly #env: Readonly<Record<string, string | undefined>>;
  /** Names that other entries refer to, by those entries. */
  readonly #taken: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #chosen = new Map<string, string>();

  constructor(
    env: Readonly<Record<string, string | undefined>>,
    taken: ReadonlyMap<string, ReadonlySet<string>>,
  ) {
    this.#env = env;
    this.#taken = taken;
  }

  /** Replaces the secrets of an entry by references, and says which variables have to be set for it. */
  replace(
    serverName: string,
    entry: Entry,
  ): { readonly entry: Entry; readonly variables: readonly SecretVariable[] } {
    const variables: SecretVariable[] = [];
    let replaced = entry;
    const secrets = findSecrets(entry);
    if (secrets.some(({ path }) => isWord(path))) replaced = withExpandedArgs(replaced);
    for (const { path, credential, variable } of secrets) {
      const name = this.#choose(serverName, { variable, credential, isOwn: path[0] === "env" });
      const put = (text: string): string => text.replaceAll(credential, () => `\${${name}}`);
      replaced = mapAt(replaced, path, put) as Entry;
      const isSet = this.#env[name] === credential;
      variables.push({ name, field: path.join("."), isSet });
    }
    return { entry: replaced, variables };
  }

  #choose(
    serverName: string,
    secret: { readonly variable: string; readonly credential: string; readonly isOwn: boolean },
  ): string {
    const { variable, credential, isOwn } = secret;
    const server = variableName(serverName);
    const prefixed = variable.startsWith(`${server}_`) ? variable : `${server}_${variable}`;
    const candidates = isOwn ? [variable, prefixed] : [prefixed];
    for (let number = 2; ; number += 1) {
      const free = candidates.find((name) => this.#isFree(name, serverName, credential));
      if (free !== undefined) {
        this.#chosen.set(free, credential);
        return free;
      }
      candidates.splice(0, candidates.length, `${prefixed}_${number}`);
    }
  }

  /** A variable that is set to something else would hand that to the server. */
  #isFree(name: string, serverName: string, credential: string): boolean {
    const value = this.#env[name];
    if (value !== undefined && value !== "") return value === credential;
    const chosen = this.#chosen.get(name);
    if (chosen !== undefined) return chosen === credential;
    const users = this.#taken.get(name);
    return users === undefined || [...users].every((user) => user === serverName);
  }
}

/** Whether a place is a word of a command. */
export function isWord(path: FieldPath): boolean {
  return typeof path.at(-1) === "number";
}

const variableHint = "export it in your shell, and write ${VARIABLE} in its place";
const scheme = /^(?:Bearer|Basic|Token)\s+/i;

function namedSecrets(key: "env" | "headers" | "auth"): (field: Field) => readonly EntrySecret[] {
  return ({ value: members, path }) =>
    isJsonObject(members)
      ? Object.entries(members).flatMap(([name, value]) =>
          namedSecret(key, { name, value, path: [...path, name] }),
        )
      : [];
}

function namedSecret(
  key: "env" | "headers" | "auth",
  { name, value, path }: Field & { readonly name: string },
): readonly EntrySecret[] {
  if (typeof value !== "string" || !looksSecret(name, value)) return [];
  // The name of `authorizationUrl` sounds secret; the address of a server that signs people in is none.
  if (key === "auth" && isAddress(name) && literalCredentials(value).length === 0) return [];
  const where = {
    env: `the variable ${name}`,
    headers: `the header ${name}`,
    auth: `auth.${name}`,
  };
  const hint = key === "env" ? `export ${name} in your shell, and give: -e ${name}` : variableHint;
  const isAuthorization = key === "headers" && /^authorization$/i.test(name);
  return [
    {
      path,
      where: where[key],
      hint,
      askedWith:
        key === "env"
          ? `--secret-env ${name}`
          : key === "headers"
            ? `--secret-header ${name}`
            : undefined,
      credential: key === "env" ? value : value.replace(scheme, ""),
      variable: isAuthorization ? "TOKEN" : variableName(name),
    },
  ];
}

function isAddress(name: string): boolean {
  return /ur[il]$/i.test(name);
}

function addressSecrets({ value: address, path }: Field): readonly EntrySecret[] {
  if (typeof address !== "string") return [];
  return literalCredentials(address).map((credential) => ({
    path,
    where: "the address",
    hint: variableHint,
    credential,
    variable: nameBefore(address, credential) ?? "TOKEN",
  }));
}

function wordSecrets({ value: words, path }: Field): readonly EntrySecret[] {
  if (!Array.isArray(words)) return [];
  return words.flatMap((word: unknown, index) => {
    const before: unknown = words[index - 1];
    const option = typeof before === "string" ? before : undefined;
    if (typeof word !== "string" || !isCredentialWord(word, option)) return [];
    const found = literalCredentials(word);
    return (found.length === 0 ? [word] : found).map((credential) => ({
      path: [...path, index],
      where: "a word of the command",
      hint: "most servers read it from a variable: -e NAME",
      credential,
      variable:
        nameBefore(word, credential) ??
        (option?.startsWith("-") === true ? variableName(option) : "TOKEN"),
    }));
  });
}

/** Finds the credentials that are written out in a text; a reference to a variable is none, a default may be one. */
function literalCredentials(text: string): readonly string[] {
  const parts = parseTemplate(text).map((part) => {
    if (part.type === "text") return part.text;
    if (part.type === "malformed") return "";
    const isPure =
      part.type !== "foreign" && !(part.type === "variable" && part.fallback !== undefined);
    // A space ends what could be a credential.
    return isPure ? " " : part.source;
  });
  return credentialsIn(parts.join("")).map((credential) =>
    // The brace that ends a reference ends a credential, too.
    credential.includes("${") && text.includes(`${credential}}`) ? `${credential}}` : credential,
  );
}

/** Finds the name in `name=credential`. */
function nameBefore(text: string, credential: string): string | undefined {
  const before = text.slice(0, text.indexOf(credential));
  const name = /([\w.-]+)=$/.exec(before)?.[1];
  return name === undefined ? undefined : variableName(name);
}

/** Makes a name for a variable of any text. */
function variableName(text: string): string {
  const name = text
    .normalize("NFKC")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  return /^[A-Z]/.test(name) ? name : `MCP_${name || "TOKEN"}`;
}

/** Lets references in arguments be replaced, and keeps those as text that were text before. */
export function withExpandedArgs(entry: Entry): Entry {
  if (entry["expandArgs"] === true) return entry;
  const { command, args } = entry;
  return {
    ...entry,
    ...(command === undefined ? {} : { command: escapeWords(command) }),
    ...(args === undefined ? {} : { args: escapeWords(args) }),
    expandArgs: true,
  };
}

function escapeWords(words: unknown): unknown {
  if (!Array.isArray(words)) return words;
  return words.map((word: unknown) => (typeof word === "string" ? escapeVariables(word) : word));
}

/** Replaces the text at a place of a value; everything else stays the same object or is copied. */
export function mapAt(value: unknown, path: FieldPath, map: (text: string) => string): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return typeof value === "string" ? map(value) : value;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === step ? mapAt(item, rest, map) : item));
  if (!isJsonObject(value)) return value;
  return { ...value, [step]: mapAt(value[step], rest, map) };
}
