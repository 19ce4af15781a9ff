import { isReservedWord } from "./source-text.ts";

/** The names of types in one file: gives each name once. */
export class TypeNames {
  readonly #taken: Set<string>;
  /** The last number tried for each name. */
  readonly #counts = new Map<string, number>();

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  /** The name itself while it is free, then with the first free number. */
  take(wanted: string): string {
    let count = this.#counts.get(wanted) ?? 1;
    let name = count === 1 ? wanted : `${wanted}${count}`;
    while (this.#taken.has(name)) {
      count += 1;
      name = `${wanted}${count}`;
    }
    this.#taken.add(name);
    this.#counts.set(wanted, count);
    return name;
  }
}

const maxWordLength = 64;

/** `create_issue` and `create-issue` read as `CreateIssue`; empty when no letter or digit is left. */
export function pascalCase(text: string): string {
  const words = text.normalize("NFKD").match(/[A-Za-z0-9]+/g) ?? [];
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** The beginning of the names of a server's types. */
export function serverTypeName(serverName: string): string {
  const name = pascalCase(serverName).slice(0, maxWordLength);
  if (name === "") return `Server_${shortHash(serverName)}`;
  return /^\d/.test(name) ? `_${name}` : name;
}

/** The name of the function that makes a server's client: `github`, `gitHubApi`. */
export function serverFunctionName(serverName: string): string {
  const name = serverTypeName(serverName);
  const camel = name.replace(/^[A-Z]+(?![a-z])|^[A-Z]/, (start) => start.toLowerCase());
  return isReservedWord(camel) ? `${camel}Server` : camel;
}

/** The beginning of the names of a tool's types, unless another tool of the server has the same one. */
export function toolTypeName(serverName: string, toolName: string): string {
  const name = plainName(serverName, toolName);
  return isTelling(toolName) ? name : marked(name, toolName);
}

/**
 * The beginning of the names of each tool's types. Tools that would share a name all get a mark
 * made from their own names, so that none of them is renamed when the order of the list changes.
 */
export function toolTypeNames(
  serverName: string,
  toolNames: readonly string[],
): ReadonlyMap<string, string> {
  const users = new Map<string, number>();
  const plain = [...new Set(toolNames)].map((toolName) => {
    const name = toolTypeName(serverName, toolName);
    users.set(name, (users.get(name) ?? 0) + 1);
    return [toolName, name] as const;
  });
  const names = new TypeNames();
  return new Map(
    plain.map(([toolName, name]) => {
      const isShared = (users.get(name) ?? 0) > 1;
      return [toolName, names.take(isShared ? marked(name, toolName) : name)];
    }),
  );
}

function plainName(serverName: string, toolName: string): string {
  const word = pascalCase(toolName).slice(0, maxWordLength) || "Tool";
  return serverTypeName(serverName) + word;
}

/** Whether the type name keeps all letters and digits of the tool's name. */
function isTelling(toolName: string): boolean {
  const name = pascalCase(toolName);
  return name !== "" && name.length <= maxWordLength;
}

function marked(name: string, origin: string): string {
  return `${name}_${shortHash(origin)}`;
}

/** FNV-1a: it only has to tell a few names apart, also in a browser. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(36).padStart(7, "0");
}

/** `#/$defs/User` reads as `User`; escaped characters are none that a name could have. */
export function referenceName(reference: string): string {
  const last = reference.slice(reference.lastIndexOf("/") + 1);
  return pascalCase(last.replaceAll(/%[0-9A-Fa-f]{2}|~[01]/g, " ")).slice(0, 64) || "Part";
}
