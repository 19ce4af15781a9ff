import { createError } from "../errors/families.ts";
import { findUrlFlaw } from "./build-transport.ts";
import { quoteName } from "./check-value.ts";
import { entryKeys } from "./config-keys.ts";
import { formatPlace } from "./config-problem.ts";
import { isSecretValue } from "./secret-values.ts";
import type { AuthConfig, ServerConfig, TransportConfig } from "./server-config.ts";
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
  readonly transport: TransportConfig;
  readonly auth: AuthConfig;
  /** The values among them to keep out of logs and messages. */
  readonly secrets: readonly string[];
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
  const secrets = new Set<string>();
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
    for (const { name, value } of expansion.used)
      if (isSecretValue(name, value)) addSecret(secrets, value);
    return expansion.text;
  });

  collectSecrets(resolved, secrets);
  for (const [name, value] of handedOn(resolved.transport, environment))
    if (value !== undefined && isSecretValue(name, value)) addSecret(secrets, value);
  const flaw = findFlaw(resolved);
  if (flaw !== undefined) throw invalid(`${quoteName(flaw.field)} ${flaw.message}`, flaw.field);
  return { ...resolved, secrets: [...secrets] };
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
    values: Readonly<Record<string, string>>,
    field: string,
  ): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, map(value, `${field}.${name}`)]),
    );
  if (transport.kind === "none" || transport.kind === "memory") return { transport, auth };
  if (transport.kind === "stdio") {
    const args = transport.expandArgs
      ? transport.args.map((arg, index) => map(arg, `args.${index}`))
      : transport.args;
    return { transport: { ...transport, args, env: mapAll(transport.env, "env") }, auth };
  }
  const mapped = Object.entries(auth).map(([key, value]: [string, unknown]) => {
    const isTemplate = typeof value === "string" && key !== "type" && key !== "grant";
    return [key, isTemplate ? map(value, `auth.${key}`) : value];
  });
  return {
    transport: {
      ...transport,
      url: map(transport.url, "url"),
      headers: mapAll(transport.headers, "headers"),
    },
    auth: Object.fromEntries(mapped) as AuthConfig,
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

/** Values written out in the entry are as secret as those of variables. */
function collectSecrets(
  { transport, auth }: Pick<ResolvedServer, "transport" | "auth">,
  secrets: Set<string>,
): void {
  const named =
    transport.kind === "stdio" ? transport.env : "headers" in transport ? transport.headers : {};
  for (const [name, value] of Object.entries(named))
    if (isSecretValue(name, value)) addSecret(secrets, value);
  if (auth.type === "bearer") addSecret(secrets, auth.token);
  if (auth.type === "oauth")
    for (const value of [auth.clientSecret, auth.privateKey])
      if (value !== undefined) addSecret(secrets, value);
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

/** A credential is also recognisable without its scheme, and as part of an address. */
function addSecret(secrets: Set<string>, value: string): void {
  const credential = value.replace(/^(?:Bearer|Basic|Token)\s+/i, "");
  // Through a buffer, because a lone surrogate cannot be encoded.
  const inAddress = encodeURIComponent(Buffer.from(credential).toString());
  for (const form of [value, credential, inAddress]) if (form !== "") secrets.add(form);
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
