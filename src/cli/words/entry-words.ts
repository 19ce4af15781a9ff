import type { Command } from "commander";

import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { literalSecret } from "../../host/files/entry-secrets.ts";
import { parseDuration } from "../output/duration.ts";
import { choiceOption, collect } from "./option-values.ts";

/** The options that say how a server is started or reached, as the parser gives them. */
export interface LaunchOptions {
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly transport?: string;
}

/** The options that describe a server to keep. */
export interface EntryOptions extends LaunchOptions {
  /** Names of variables whose values are asked for. */
  readonly secretEnv?: readonly string[];
  /** Headers whose values are asked for: a name, and what stands in front of the value. */
  readonly secretHeader?: readonly string[];
  /** Milliseconds. */
  readonly timeout?: number;
}

const addressTransports = ["http", "streamable-http", "sse", "http-post", "rest"];

export function addLaunchOptions(command: Command): Command {
  return command
    .option(
      "-e, --env <name=value>",
      "a variable of the command; NAME alone passes on the one of your shell (repeatable)",
      collect,
    )
    .option("-H, --header <name:value>", "a header of every request (repeatable)", collect)
    .addOption(
      choiceOption("--transport <kind>", "how the address is spoken to", addressTransports),
    );
}

export function addEntryOptions(command: Command): Command {
  return addLaunchOptions(command)
    .option(
      "--secret-env <name>",
      "a variable that is asked for, or read from stdin, and kept sealed (repeatable)",
      collect,
    )
    .option(
      "--secret-header <name>",
      "a header of that kind; 'Authorization: Bearer' puts the word in front (repeatable)",
      collect,
    )
    .option(
      "--timeout <time>",
      "how long to wait for a connection and for each call: 500ms, 60s, 2m; 0 without end",
      parseDuration,
    );
}

/** A value of an entry that is asked for. */
export interface AskedSecret {
  readonly key: "env" | "headers" | "auth";
  /** The variable, the header, or the key of the sign-in. */
  readonly name: string;
  /** What stands in front of the value. */
  readonly prefix: string;
}

/** Lists the values that are to be asked for, in the order in which they are. */
export function askedSecrets({
  secretEnv = [],
  secretHeader = [],
}: EntryOptions): readonly AskedSecret[] {
  const variables = secretEnv.map((name): AskedSecret => {
    // What stands behind a = would be the secret, in an argument.
    if (!/^[^=\s]+$/.test(name)) throw nameless("--secret-env", "--secret-env NAME");
    return { key: "env", name, prefix: "" };
  });
  const headers = secretHeader.map((text): AskedSecret => {
    const [, name, scheme = ""] = /^([^:=\s]+)(?:\s*:\s*(\S{0,16})\s*)?$/.exec(text) ?? [];
    if (name === undefined) throw nameless("--secret-header", "--secret-header NAME");
    return { key: "headers", name, prefix: scheme === "" ? "" : `${scheme} ` };
  });
  return [...variables, ...headers];
}

/** Puts the values that were asked for beside the others of an entry, or of a change to one. */
export function withSecrets(
  entry: Readonly<Record<string, unknown>>,
  asked: readonly AskedSecret[],
  values: readonly string[],
): Readonly<Record<string, unknown>> {
  const membersOf = (key: AskedSecret["key"]): Readonly<Record<string, unknown>> => {
    const given = asked.flatMap((it, index) =>
      it.key === key
        ? [[it.name, literalSecret(`${it.prefix}${values[index] ?? ""}`)] as const]
        : [],
    );
    if (given.length === 0) return {};
    const before = entry[key];
    return {
      [key]: { ...(typeof before === "object" ? before : {}), ...Object.fromEntries(given) },
    };
  };
  return { ...entry, ...membersOf("env"), ...membersOf("headers"), ...membersOf("auth") };
}

/** Refuses to ask for secrets of an entry that is written into a file. */
export function refuseForProject([first]: readonly AskedSecret[]): void {
  if (first === undefined) return;
  const [option, given] = projectForms[first.key](first);
  throw createError("invalid_arguments", `${option}: no file gets a secret`, {
    hint: `keep it with plugboard secret set NAME, and ${given}`,
  });
}

/** The option that asks for a secret of each kind, and what a file says in its place. */
const projectForms: Readonly<
  Record<AskedSecret["key"], (asked: AskedSecret) => readonly [option: string, given: string]>
> = {
  env: ({ name }) => ["--secret-env", `give: -e '${name}=\${secret:NAME}'`],
  headers: ({ name, prefix }) => [
    "--secret-header",
    `give: -H '${name}: ${prefix}\${secret:NAME}'`,
  ],
  auth: ({ name }) => [
    name === "token" ? "--bearer" : "--client-secret",
    `write "${name}": "\${secret:NAME}" into its "auth"`,
  ],
};

/** Whether a word stands for a server by its address. */
export function isAddress(word: string): boolean {
  return /^https?:\/\//i.test(word);
}

/** Whether a word is meant as an address that nothing here can speak to: of another scheme, or without one. */
function isOtherAddress(word: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(word) || /^[\w.-]+:\d+(?:\/|$)/.test(word);
}

/**
 * Makes an entry of a command with its arguments, or of an address, and the options beside it. Throws
 * `invalid_arguments` for what does not fit together.
 */
export function readEntry(
  words: readonly string[],
  options: EntryOptions,
): Readonly<Record<string, unknown>> {
  const [target, ...args] = words;
  if (target === undefined || target === "") throw noTarget();
  const { env, header, transport, timeout } = options;
  const shared = timeout === undefined ? {} : { timeoutMs: timeout };
  if (isAddress(target)) {
    if (args.length > 0) throw tooMuch(args);
    if (env !== undefined) throw misplaced("--env", "a command");
    if (options.secretEnv !== undefined) throw misplaced("--secret-env", "a command");
    return {
      url: target,
      ...(transport === undefined ? {} : { transport }),
      ...(header === undefined ? {} : { headers: readHeaders(header) }),
      ...shared,
    };
  }
  if (isOtherAddress(target)) throw noAddress(target);
  if (header !== undefined) throw misplaced("--header", "an address");
  if (options.secretHeader !== undefined) throw misplaced("--secret-header", "an address");
  if (transport !== undefined) throw misplaced("--transport", "an address");
  return {
    command: target,
    ...(args.length === 0 ? {} : { args }),
    ...(env === undefined ? {} : { env: readVariables(env) }),
    ...shared,
  };
}

/**
 * Reads what is to be changed of an entry: another command or address, and the options beside it; empty when nothing
 * was typed. Whether it fits the entry, the host finds out.
 */
export function readEntryChange(
  words: readonly string[],
  options: EntryOptions,
): Readonly<Record<string, unknown>> {
  const { env, header, transport, timeout } = options;
  const target = words.length === 0 ? {} : readEntry(words, {});
  return {
    ...target,
    ...(env === undefined ? {} : { env: readVariables(env) }),
    ...(header === undefined ? {} : { headers: readHeaders(header) }),
    ...(transport === undefined ? {} : { transport }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
  };
}

/** Reads the variables of a command; a name alone refers to the variable of that name. */
function readVariables(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = /^([^=\s]+)(?:=([\s\S]*))?$/.exec(text) ?? [];
      // The text itself may be a secret, so no error repeats it.
      if (name === undefined) throw nameless("--env", "-e NAME=value, or -e NAME");
      return [name, value ?? `\${${name}}`];
    }),
  );
}

function readHeaders(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = /^([^:=\s]+)\s*[:=]\s*([\s\S]*?)\s*$/.exec(text) ?? [];
      if (name === undefined || value === undefined) throw nameless("--header", "-H 'Name: value'");
      return [name, value];
    }),
  );
}

function nameless(option: string, hint: string): McpError {
  return createError("invalid_arguments", `${option}: a name is missing`, { hint });
}

function noTarget(): McpError {
  return createError("invalid_arguments", "which server? Give its address, or its command", {
    hint: "a command stands behind --, as in: -- npx -y @modelcontextprotocol/server-filesystem .",
  });
}

function noAddress(word: string): McpError {
  const [, rest = word] = /^[a-z][a-z\d+.-]*:\/\/(.*)$/i.exec(word) ?? [];
  return createError(
    "invalid_arguments",
    `"${word.slice(0, 80)}" is no command, and no address of a server`,
    { hint: `an address begins with http:// or https://, as in: https://${rest.slice(0, 80)}` },
  );
}

function misplaced(option: string, owner: string): McpError {
  return createError("invalid_arguments", `${option} is for ${owner}`);
}

function tooMuch(words: readonly string[]): McpError {
  return createError("invalid_arguments", `"${words.join(" ").slice(0, 80)}" is too much`, {
    hint: "an address stands alone; a command stands behind --",
  });
}
