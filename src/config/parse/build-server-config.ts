import { canonicalHash } from "../../text/canonical-hash.ts";
import { slug } from "../../text/slug.ts";
import { quoteName } from "../keys/check-value.ts";
import { type CheckedAuth, type CheckedInputs, entryKeys } from "../keys/config-keys.ts";
import {
  type AuthConfig,
  type InProcessTransportConfig,
  type IsolationConfig,
  type OAuthGrant,
  oauthSecretKeys,
  type Provenance,
  type ServerConfig,
  type TransportConfig,
  type ValueProvider,
  valueProviders,
} from "../keys/server-config.ts";
import { inputIds } from "../variables/reference-uses.ts";
import { resolvePath } from "../variables/resolve-path.ts";
import { type BuildContext, buildTransport } from "./build-transport.ts";
import { hideValue } from "./hide-secrets.ts";
import type { EntryValues, ReadEntry } from "./read-entry.ts";
import { toJson } from "./to-json.ts";

export interface NamedEntry extends ReadEntry {
  readonly name: string;
  /** The file's `defaults`. A key of the entry itself wins. */
  readonly defaults: EntryValues;
  readonly provenance: Provenance;
  /** A transport object that code handed over and no key can describe. */
  readonly fixedTransport: InProcessTransportConfig | undefined;
  /** The functions that code gave in place of values. */
  readonly providers: ReadonlyMap<string, ValueProvider>;
}

/**
 * Builds the canonical form of an entry, deeply frozen; undefined after an error. Its JSON is the entry as a
 * file holds it, with masks in place of secrets.
 */
export function buildServerConfig(
  entry: NamedEntry,
  context: BuildContext,
): ServerConfig | undefined {
  const values: EntryValues = { ...entry.defaults, ...entry.values };
  const transport = entry.fixedTransport ?? buildTransport(entry, values, context);
  if (transport === undefined) return undefined;
  warnAboutIdleKeys(entry, transport, context);
  const auth = buildAuth(entry, values, transport, context);
  if (auth === undefined) return undefined;

  const config: ServerConfig = {
    name: entry.name,
    id: serverId(entry.name),
    transport,
    auth,
    enabled: values.enabled ?? true,
    ...pick(values, "start"),
    ...pick(values, "connectTimeoutMs"),
    ...pick(values, "callTimeoutMs"),
    reconnect: values.reconnect ?? true,
    maxReconnectAttempts: values.maxReconnectAttempts ?? 3,
    halfOpen: values.halfOpen ?? false,
    ...pick(values, "toolPrefix"),
    ...pick(values, "enabledTools"),
    disabledTools: values.disabledTools ?? [],
    ...pick(values, "naming"),
    ...pick(values, "descriptionLimit"),
    protocol: values.protocol ?? "auto",
    strict: values.strict ?? false,
    skipReadOnlyPrompts: values.skipReadOnlyPrompts ?? false,
    ...(transport.kind === "stdio" && values.isolation !== undefined
      ? { isolation: buildIsolation(values.isolation, context.baseDir) }
      : {}),
    ...usedInputs(values.inputs ?? [], transport, auth),
    ...pick(values, "importedFrom"),
    provenance: entry.provenance,
    ...(entry.providers.size === 0 ? {} : { [valueProviders]: entry.providers }),
  };
  const value = (): object => toJson(config, { secrets: "mask" });
  return deepFreeze(Object.defineProperty(config, "toJSON", { value }));
}

/** Selects the inputs that an entry refers to; a file declares inputs for all its servers. */
function usedInputs(
  declared: CheckedInputs,
  transport: TransportConfig,
  auth: AuthConfig,
): Pick<ServerConfig, "inputs"> {
  if (declared.length === 0) return {};
  const wanted = inputIds({ transport, auth });
  const inputs = declared.flatMap(({ id, type = "promptString", ...rest }) =>
    id !== undefined && wanted.has(id) ? [{ id, type, ...rest }] : [],
  );
  return inputs.length === 0 ? {} : { inputs };
}

/** Makes the slug of a name; a name without any plain letter or digit gets one from its hash. */
function serverId(name: string): string {
  return slug(name) || `server-${canonicalHash(name).slice(0, 8)}`;
}

/** Warns about keys that apply to another kind of server: they have no effect here. */
function warnAboutIdleKeys(
  entry: NamedEntry,
  transport: TransportConfig,
  context: BuildContext,
): void {
  if (isInProcess(transport)) return;
  const kind = transport.kind === "stdio" ? "stdio" : "http";
  for (const key of Object.keys(entry.values)) {
    const spec = entryKeys[key as keyof typeof entryKeys];
    const only = "only" in spec ? spec.only : undefined;
    if (only === undefined || only === kind) continue;
    const server = kind === "stdio" ? "a server started by command" : "a remote server";
    context.report("warning", entry.at(key), `"${key}" has no effect on ${server}`);
  }
}

function isInProcess(transport: TransportConfig): transport is InProcessTransportConfig {
  return transport.kind === "none" || transport.kind === "memory";
}

function buildAuth(
  entry: ReadEntry,
  values: EntryValues,
  transport: TransportConfig,
  context: BuildContext,
): AuthConfig | undefined {
  const { auth: given } = values;
  if (given === undefined || transport.kind === "stdio" || isInProcess(transport))
    return { type: "none" };
  const { type, ...keys }: CheckedAuth = typeof given === "string" ? { type: given } : given;
  const fail = (key: string, message: string): undefined => {
    context.report("error", [...entry.at("auth"), key], message);
  };
  if (type === undefined) return fail("type", '"auth.type" is missing: none, bearer or oauth');
  if (type === "none") return { type };
  const explicit = Object.keys(transport.headers).find((name) => /^authorization$/i.test(name));
  if (explicit !== undefined)
    return fail("type", `"auth" and the header ${quoteName(explicit)} exclude each other`);
  const { token, scopes, ...client } = keys;
  if (type === "bearer")
    return token === undefined
      ? fail("token", '"auth.token" is missing')
      : { type, token: hideValue(token) };
  if (client.redirectUri !== undefined && client.callbackPort !== undefined)
    return fail("callbackPort", '"auth.redirectUri" and "auth.callbackPort" exclude each other');
  const missing = missingKey(client);
  if (missing !== undefined)
    return fail(missing.key, `"auth.${missing.key}" is missing, which ${missing.needs}`);
  const scopeList = typeof scopes === "string" ? scopes.split(/\s+/).filter(Boolean) : scopes;
  const secrets = oauthSecretKeys.flatMap((key) => {
    const value = client[key];
    return value === undefined ? [] : [[key, hideValue(value)] as const];
  });
  return {
    type,
    ...client,
    ...Object.fromEntries(secrets),
    ...(scopeList === undefined ? {} : { scopes: scopeList }),
  };
}

/** Finds a key that a sign-in needs and has not, and what needs it. */
function missingKey({
  grant,
  ...keys
}: CheckedAuth): { readonly key: keyof CheckedAuth; readonly needs: string } | undefined {
  const lacks = (key: keyof typeof keys): boolean => keys[key] === undefined;
  if (!lacks("authUrl") && lacks("tokenUrl")) return { key: "tokenUrl", needs: '"authUrl" needs' };
  if (!lacks("clientSecret") && lacks("clientId"))
    return { key: "clientId", needs: '"clientSecret" belongs to' };
  const needed: Partial<Record<OAuthGrant, readonly (keyof typeof keys)[]>> = {
    client_credentials: lacks("privateKey") ? ["clientId", "clientSecret"] : ["clientId"],
    "jwt-bearer": ["clientId", "assertion"],
    enterprise: ["clientId", "identityProvider", "idToken", "idpClientId"],
  };
  const key = grant === undefined ? undefined : needed[grant]?.find(lacks);
  return key === undefined ? undefined : { key, needs: `"grant": "${grant}" needs` };
}

function buildIsolation(
  given: NonNullable<EntryValues["isolation"]>,
  baseDir: string | undefined,
): IsolationConfig {
  const { sandbox, network, paths, limits } = given;
  const resolved = (list: readonly string[] = []): readonly string[] =>
    list.map((item) => resolvePath(item, baseDir) ?? item);
  return {
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(network === undefined ? {} : { network: { domains: network.domains ?? [] } }),
    ...(paths === undefined
      ? {}
      : { paths: { read: resolved(paths.read), write: resolved(paths.write) } }),
    ...(limits === undefined ? {} : { limits }),
  };
}

function pick<K extends keyof EntryValues>(
  values: EntryValues,
  key: K,
): { readonly [P in K]?: NonNullable<EntryValues[P]> } {
  const value = values[key];
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: NonNullable<EntryValues[P]> });
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}
