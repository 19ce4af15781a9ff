import { ownCommand } from "../../text/own-command.ts";
import type { FieldPath } from "../keys/check-value.ts";

/** What the names of secrets begin with that belong to one stored entry. */
const ofEntries = "entry/";

/**
 * Whether a secret belongs to a stored entry. Such names are made by the host; a name that a person chooses has no
 * slash.
 */
export function isEntrySecret(name: string): boolean {
  return name.startsWith(ofEntries);
}

/** What the names of all secrets of one stored entry begin with. */
export function entrySecretPrefix(serverId: string): string {
  return `${ofEntries}${encodeURIComponent(serverId)}/`;
}

/**
 * Makes the name of a secret of a stored entry. `edition` is another one for each value: an entry that is written
 * while another process writes it never gets the other's secret, and a new value makes another entry.
 */
export function entrySecretName(serverId: string, path: FieldPath, edition: string): string {
  const field = path.map((step) => encodeURIComponent(step)).join(".");
  return `${entrySecretPrefix(serverId)}${field}@${edition}`;
}

const editions = /(?<=\$\{secret:entry\/[^{}@\s]{1,512})@[^{}@\s]{1,64}(?=\})/g;

/** Removes the editions of secrets from a text: like a variable, a secret with another value is the same reference. */
export function withoutEditions(text: string): string {
  return text.replaceAll(editions, "");
}

/** What the names of values begin with that a function of the program gives. */
const ofCode = "code/";

/** Makes the name that an entry refers to a function with, which code gave in place of a value. */
export function givenSecretName(path: FieldPath): string {
  return `${ofCode}${path.map((step) => encodeURIComponent(step)).join(".")}`;
}

/** Whether a name stands for a function that code gave in place of a value. */
export function isGivenSecret(name: string): boolean {
  return name.startsWith(ofCode);
}

/** Names a person can choose: they stand in references, in commands and in file names of no system. */
const chosenName = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

export function isSecretName(name: string): boolean {
  return chosenName.test(name);
}

/** Says how the secret is stored that a field of a server refers to, as a command to copy. */
export function howToStore(name: string, serverName: string, field: string): string {
  if (!isEntrySecret(name)) return `store it: ${ownCommand("secret", "set", [name])}`;
  const [group = "", ...rest] = field.split(".");
  const option = { env: "--secret-env", headers: "--secret-header" }[group];
  const options = option === undefined ? [] : [option, rest.join(".")];
  return `give it again: ${ownCommand("edit", serverName, options)}`;
}
