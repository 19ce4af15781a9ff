import { createError } from "../errors/families.ts";
import { credentialsIn } from "../text/redact.ts";
import { secretForms } from "../text/secret-forms.ts";
import { reveal, SecretText } from "../text/secret-text.ts";
import { findUrlFlaw } from "./build-transport.ts";
import { quoteName } from "./check-value.ts";
import { entryKeys } from "./config-keys.ts";
import { formatPlace } from "./config-problem.ts";
import { isCredential, isSecretValue } from "./secret-values.ts";
import type { AuthConfig, ConfigText, ServerConfig, TransportConfig } from "./server-config.ts";
import { parseTemplate } from "./variable-reference.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ExpandOptions {
  /** What a variable that is unset and has no default does: fails, becomes empty text, or stays as written. */
  readonly unset?: "error" | "empty" | "literal";
  /** `false` leaves `${VAR:-default}` as it is written. */
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
  /** A `${` that begins no reference; only an error while unset variables are one. */
  | { readonly ok: false; readonly reason: "malformed" };

/** What a server is started or called with, every reference replaced. Not for logs, not for storing. */
export interface ResolvedServer {
  readonly transport: TransportConfig<string>;
  readonly auth: AuthConfig<string>;
  /** The values among them to keep out of logs and messages. */
  readonly secrets: readonly string[];
  /** Those of the secrets that are more than a plain setting: they are masked in the server's own names, too. */
  readonly credentials: readonly string[];
}

/** Replaces `${VAR}` and `${VAR:-default}` (for unset or empty) once; the values themselves are not templates. */
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

/**
 * The transport and sign-in of a server with their variables filled in, at the moment it is started.
 * Throws `variable_unset`, or `config_invalid` when what comes out cannot be used; never names a value.
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
  const resolved = mapTemplates(config, (template, field) => {
    const expansion = expandVariables(template, environment, options);
    if (!expansion.ok && expansion.reason === "unset")
      throw unsetVariable(config, expansion.variable, field, options.cwd);
    if (!expansion.ok)
      throw invalid(
        `${quoteName(field)} holds "\${" without a variable; write "$\${" for the text`,
        field,
      );
    for (const { name, value } of expansion.used) secrets.addNamed(name, value);
    return expansion.text;
  });

  collectSecrets(config, resolved, secrets);
  for (const [name, value] of handedOn(resolved.transport, environment))
    if (value !== undefined) secrets.addNamed(name, value);
  const flaw = findFlaw(resolved);
  if (flaw !== undefined) throw invalid(`${quoteName(flaw.field)} ${flaw.message}`, flaw.field);
  return { ...resolved, secrets: [...secrets.all], credentials: [...secrets.credentials] };
}

/** A variable whose value a server would be given, and the field of the entry that it would be part of. */
export interface VariableUse {
  readonly variable: string;
  readonly field: string;
}

/** Each use once, for the question whether the server may start. Looks at no value. */
export function variableUses(config: ServerConfig): readonly VariableUse[] {
  const uses = new Map<string, VariableUse>();
  mapTemplates(config, (template, field) => {
    for (const part of parseTemplate(template))
      if (part.type === "variable")
        uses.set(`${part.name} ${field}`, { variable: part.name, field });
    return template;
  });
  return [...uses.values()];
}

/** Applies `map` to every value in which references are replaced. */
function mapTemplates(
  { transport, auth }: ServerConfig,
  map: (template: string, field: string) => string,
): Pick<ResolvedServer, "transport" | "auth"> {
  const mapAll = (
    values: Readonly<Record<string, ConfigText>>,
    field: string,
  ): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, map(reveal(value), `${field}.${name}`)]),
    );
  // Sign-in is for servers with an address: no other entry has any.
  if (transport.kind === "none" || transport.kind === "memory")
    return { transport, auth: { type: "none" } };
  if (transport.kind === "stdio") {
    const words = transport.args.map(reveal);
    const args = transport.expandArgs
      ? words.map((word, index) => map(word, `args.${index}`))
      : words;
    const env = mapAll(transport.env, "env");
    return { transport: { ...transport, args, env }, auth: { type: "none" } };
  }
  const mapped = Object.entries(auth).map(([key, value]: [string, unknown]) => {
    const isText = typeof value === "string" || SecretText.is(value);
    const isTemplate = isText && key !== "type" && key !== "grant";
    return [key, isTemplate ? map(reveal(value), `auth.${key}`) : value];
  });
  const { messageEndpoint, ...http } = transport;
  return {
    transport: {
      ...http,
      url: map(reveal(transport.url), "url"),
      headers: mapAll(transport.headers, "headers"),
      ...(messageEndpoint === undefined ? {} : { messageEndpoint: reveal(messageEndpoint) }),
    },
    auth: Object.fromEntries(mapped) as AuthConfig<string>,
  };
}

function unsetVariable(
  config: ServerConfig,
  variable: string,
  field: string,
  cwd: string | undefined,
): Error {
  const { path, line } = config.provenance;
  const place = formatPlace({ path, line }, cwd);
  const text = `\${${variable}} is not set`;
  return createError("variable_unset", place === undefined ? text : `${text} (${place})`, {
    serverName: config.name,
    hint: "export it before starting",
    details: { ...config.provenance, field, variable },
  });
}

/** Secrets as they are recognised in what a server writes. */
class FoundSecrets {
  readonly all = new Set<string>();
  readonly credentials = new Set<string>();

  /** The value of a variable or header. */
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

/** Values written out in the entry are as secret as those of variables. */
function collectSecrets(
  config: Pick<ServerConfig, "transport">,
  { transport, auth }: Pick<ResolvedServer, "transport" | "auth">,
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
    for (const value of [auth.clientSecret, auth.privateKey])
      if (value !== undefined) secrets.add(value);
}

/** Arguments and addresses that hold a credential, with their variables filled in. */
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

/** Set in every shell, and part of what every log says. */
const ordinaryNames: ReadonlySet<string> = new Set(["PWD", "OLDPWD", "_", "HOSTNAME", "LOGNAME"]);

/** Variables of the host that a process gets beside those of its entry; the few that all get are no secret. */
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
}: Pick<ResolvedServer, "transport" | "auth">):
  | { readonly field: string; readonly message: string }
  | undefined {
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
