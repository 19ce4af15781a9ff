import { homedir } from "node:os";

import { createError } from "../../errors/families.ts";
import { credentialsIn } from "../../text/secrets/redact.ts";
import { secretForms } from "../../text/secrets/secret-forms.ts";
import { SecretText } from "../../text/secrets/secret-text.ts";
import { quoteName } from "../keys/check-value.ts";
import { entryKeys } from "../keys/config-keys.ts";
import { formatPlace } from "../keys/config-problem.ts";
import { oauthSecretKeys, type ServerConfig, type TransportConfig } from "../keys/server-config.ts";
import { mapTemplates, type ResolvedTexts } from "../variables/map-templates.ts";
import { type Environment, otherReferences } from "../variables/reference-values.ts";
import { isEntrySecret } from "../variables/secret-names.ts";
import { isCredential, isSecretValue } from "../variables/secret-values.ts";
import {
  expandFolders,
  folderOf,
  type Folders,
  parseTemplate,
  type TemplatePart,
} from "../variables/variable-reference.ts";
import { findUrlFlaw } from "./build-transport.ts";

export interface ExpandOptions {
  /**
   * The treatment of a variable that is unset and has no default: it fails, becomes empty text, or stays
   * as written.
   */
  readonly unset?: "error" | "empty" | "literal";
  /** `false` keeps `${VAR:-default}` as it is written. */
  readonly defaults?: boolean;
}

export type Expansion =
  | {
      readonly ok: true;
      readonly text: string;
      /** The variables whose values are part of the text. */
      readonly used: readonly { readonly name: string; readonly value: string }[];
    }
  | { readonly ok: false; readonly reason: "unset"; readonly variable: string }
  /** `${kind:…}` is a reference that only another program can replace. */
  | { readonly ok: false; readonly reason: "foreign"; readonly kind: string }
  /** The text has a `${` that begins no reference; an error only where unset variables are one. */
  | { readonly ok: false; readonly reason: "malformed" };

/** The transport and sign-in of a server with every reference replaced. They must not be logged or stored. */
export interface ResolvedServer extends ResolvedTexts {
  /** The values that must stay out of logs and messages. */
  readonly secrets: readonly string[];
  /**
   * The secrets that are credentials and not plain settings; they are masked in the server's own names,
   * too.
   */
  readonly credentials: readonly string[];
}

/**
 * Replaces `${VAR}` and `${VAR:-default}` (for unset or empty) once. References inside the values are not
 * replaced.
 */
export function expandVariables(
  template: string,
  environment: Environment,
  options: ExpandOptions = {},
): Expansion {
  const { unset = "error", defaults = true } = options;
  const used: { readonly name: string; readonly value: string }[] = [];
  let text = "";
  for (const part of parseTemplate(template)) {
    if (part.type === "text") text += part.text;
    else if (part.type === "malformed") {
      if (unset === "error") return { ok: false, reason: "malformed" };
    } else if (part.type === "folder") text += folderOf(part.name, foldersOf(environment));
    else if (part.type === "foreign") {
      if (unset === "error") return { ok: false, reason: "foreign", kind: part.kind };
      if (unset === "literal") text += part.source;
    } else if (part.type === "input" || part.type === "secret") {
      const { known, variable } = filledReference(part, environment);
      if (known !== undefined) {
        const expansion = expandFilled(part, known, environment, options);
        if (!expansion.ok) return expansion;
        text += expansion.text;
        // An answer of a person is a secret of this server, whatever the input is called.
        used.push({ name: "token", value: expansion.text });
      } else if (unset === "error") return { ok: false, reason: "unset", variable };
      else if (unset === "literal") text += part.source;
    } else if (part.fallback !== undefined && !defaults) text += part.source;
    else {
      const { name, fallback, source } = part;
      const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
      const isUsable = value !== undefined && (value !== "" || fallback === undefined);
      if (isUsable) {
        text += value;
        used.push({ name, value });
      } else if (fallback !== undefined) text += fallback;
      else if (unset === "error") return { ok: false, reason: "unset", variable: name };
      else if (unset === "literal") text += source;
    }
  }
  return { ok: true, text, used };
}

/** The value that a host has found for a reference, and what the reference is called. */
function filledReference(
  part: Extract<TemplatePart, { readonly type: "input" | "secret" }>,
  environment: Environment,
): { readonly known: SecretText | undefined; readonly variable: string } {
  const others = environment[otherReferences];
  return part.type === "input"
    ? { known: others?.inputs.get(part.id), variable: `input:${part.id}` }
    : { known: others?.secrets.get(part.name), variable: `secret:${part.name}` };
}

/** A secret of a stored entry is what was written in the entry, where `${VAR:-default}` is replaced. */
function expandFilled(
  part: Extract<TemplatePart, { readonly type: "input" | "secret" }>,
  known: SecretText,
  environment: Environment,
  options: ExpandOptions,
): Expansion {
  const text = known.reveal();
  if (part.type === "input" || !isEntrySecret(part.name)) return { ok: true, text, used: [] };
  const { [otherReferences]: _others, ...variables } = environment;
  return expandVariables(text, variables, options);
}

/** The folders of this process, for callers without a host. */
function foldersOf(environment: Environment): Folders {
  return (
    environment[otherReferences]?.folders ?? { workspaceFolder: process.cwd(), home: homedir() }
  );
}

/**
 * Replaces the references in the transport and sign-in of a server, at the moment it is started. Throws
 * `variable_unset`, or `config_invalid` when the result cannot be used. No error names a value.
 */
export function resolveServer(
  config: ServerConfig,
  environment: Environment,
  options: ExpandOptions & { readonly cwd?: string } = {},
): ResolvedServer {
  const secrets = new FoundSecrets();
  const invalid = (message: string, field: string): Error => {
    const place = formatPlace(
      { path: config.provenance.path, line: config.provenance.line },
      options.cwd,
    );
    return createError("config_invalid", place === undefined ? message : `${message} (${place})`, {
      serverName: config.name,
      details: { ...config.provenance, field },
    });
  };
  const expand = (template: string, field: string): string => {
    const expansion = expandVariables(template, environment, options);
    if (!expansion.ok && expansion.reason === "unset")
      throw unsetVariable(config, expansion.variable, field, options.cwd);
    if (!expansion.ok && expansion.reason === "foreign")
      throw invalid(
        `${quoteName(field)} holds "\${${expansion.kind}:…}", which only the program knows that the entry was written for`,
        field,
      );
    if (!expansion.ok)
      throw invalid(
        `${quoteName(field)} holds "\${" without a variable; write "$\${" for the text`,
        field,
      );
    for (const { name, value } of expansion.used) secrets.addNamed(name, value);
    return expansion.text;
  };
  const folders = foldersOf(environment);
  const mapped = mapTemplates(config, expand, (text) => expandFolders(text, folders));
  const resolved = withEnvFile(mapped, environment, invalid);

  collectSecrets(config, resolved, secrets);
  for (const [name, value] of handedOn(resolved.transport, environment))
    if (value !== undefined) secrets.addNamed(name, value);
  const flaw = findFlaw(resolved);
  if (flaw !== undefined) throw invalid(`${quoteName(flaw.field)} ${flaw.message}`, flaw.field);
  return { ...resolved, secrets: [...secrets.all], credentials: [...secrets.credentials] };
}

/** Adds the variables of the `envFile` to those of the entry. The entry wins. */
function withEnvFile<T extends Pick<ResolvedTexts, "transport">>(
  resolved: T,
  environment: Environment,
  invalid: (message: string, field: string) => Error,
): T {
  const { transport } = resolved;
  if (transport.kind !== "stdio" || transport.envFile === undefined) return resolved;
  const file = environment[otherReferences]?.envFile;
  if (file === undefined) throw invalid('"envFile" can only be read by a host', "envFile");
  const values = Object.entries(file).map(([name, value]) => [name, value.reveal()] as const);
  const env = { ...Object.fromEntries(values), ...transport.env };
  return { ...resolved, transport: { ...transport, env } };
}

function unsetVariable(
  config: ServerConfig,
  variable: string,
  field: string,
  cwd: string | undefined,
): Error {
  const { path, line } = config.provenance;
  const place = formatPlace({ path, line }, cwd);
  const isInput = variable.startsWith("input:");
  const isSecret = variable.startsWith("secret:");
  const text = `\${${variable}} ${isInput ? "was not asked for" : isSecret ? "is only known to a host" : "is not set"}`;
  return createError("variable_unset", place === undefined ? text : `${text} (${place})`, {
    serverName: config.name,
    hint: isInput
      ? "only a host with somebody to ask can; name a variable in its place"
      : isSecret
        ? "create a host for the server, or name a variable in its place"
        : "export it before starting",
    details: { ...config.provenance, field, variable },
  });
}

/** Collects secrets in every form in which a server may write them. */
class FoundSecrets {
  readonly all = new Set<string>();
  readonly credentials = new Set<string>();

  /** Adds the value of a variable or header if it is secret. */
  addNamed(name: string, value: string): void {
    if (isSecretValue(name, value)) this.#add(value, isCredential(name, value));
  }

  add(credential: string): void {
    this.#add(credential, isCredential("token", credential));
  }

  #add(secret: string, isCredential: boolean): void {
    for (const form of secretForms(secret)) {
      this.all.add(form);
      if (isCredential) this.credentials.add(form);
    }
  }
}

/** Collects the secrets of an entry. Values written out in it are as secret as those of variables. */
function collectSecrets(
  config: Pick<ServerConfig, "transport">,
  { transport, auth }: ResolvedTexts,
  secrets: FoundSecrets,
): void {
  const named =
    transport.kind === "stdio" ? transport.env : "headers" in transport ? transport.headers : {};
  for (const [name, value] of Object.entries(named)) secrets.addNamed(name, value);
  for (const text of hiddenTexts(config, transport)) {
    const found = credentialsIn(text);
    for (const credential of found.length === 0 ? [text] : found) secrets.add(credential);
  }
  if (auth.type === "bearer") secrets.add(auth.token);
  if (auth.type === "oauth")
    for (const key of oauthSecretKeys) {
      const value = auth[key];
      if (value !== undefined) secrets.add(value);
    }
}

/** Lists the arguments and addresses that hold a credential, with their references replaced. */
function hiddenTexts(
  { transport }: Pick<ServerConfig, "transport">,
  resolved: TransportConfig<string>,
): readonly string[] {
  if (transport.kind === "stdio" && resolved.kind === "stdio")
    return resolved.args.filter((_, index) => SecretText.is(transport.args[index]));
  if (!("url" in transport) || !("url" in resolved)) return [];
  const { url, messageEndpoint = "" } = resolved;
  return [
    ...(SecretText.is(transport.url) ? [url] : []),
    ...(SecretText.is(transport.messageEndpoint) ? [messageEndpoint] : []),
  ];
}

/** Variables that every shell sets; hiding their values would garble every log. */
const ordinaryNames: ReadonlySet<string> = new Set(["PWD", "OLDPWD", "_", "HOSTNAME", "LOGNAME"]);

/**
 * Lists the host's variables that a process inherits beside those of its entry, except the few that all
 * processes get.
 */
function handedOn(
  transport: ResolvedServer["transport"],
  environment: Environment,
): readonly (readonly [string, string | undefined])[] {
  if (transport.kind !== "stdio") return [];
  return transport.inheritEnv === "all"
    ? Object.entries(environment).filter(([name]) => !ordinaryNames.has(name))
    : transport.envPassthrough.map((name) => [name, environment[name]] as const);
}

function findFlaw({
  transport,
  auth,
}: ResolvedTexts): { readonly field: string; readonly message: string } | undefined {
  if (!("url" in transport)) return undefined;
  const message = findUrlFlaw(transport.url);
  if (message !== undefined) return { field: "url", message };
  const sent = Object.entries(transport.headers).map(([name, value]) => [`headers.${name}`, value]);
  if (auth.type === "bearer") sent.push(["auth.token", auth.token]);
  const allowed = new RegExp(entryKeys.headers.shape.valuePattern, "u");
  for (const [field = "", value = ""] of sent)
    if (!allowed.test(value))
      return { field, message: "holds a character that no header can carry" };
  return undefined;
}
