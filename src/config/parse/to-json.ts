import { reveal } from "../../text/secrets/secret-text.ts";
import { entryKeys, type McpServerConfig } from "../keys/config-keys.ts";
import {
  type AuthConfig,
  type ConfigText,
  type ServerConfig,
  type TransportConfig,
  oauthSecretKeys,
} from "../keys/server-config.ts";

export interface ToJsonOptions {
  /**
   * The treatment of values that may be secrets: literal values of `env`, `headers` and `auth`.
   * `omit` (the default) leaves them out, `mask` shows that there is one, `keep` writes them. A value
   * made of `${VAR}` alone is no secret. Arguments and addresses cannot be left out: a likely credential
   * in them is masked unless secrets are kept.
   */
  readonly secrets?: "omit" | "mask" | "keep";
}

/**
 * Writes a server as an entry of a file: defaults and empty values left out, times in seconds. Reading the
 * entry gives the same server, except for its secrets and its origin. A `memory` server has no file form.
 */
export function toJson(config: ServerConfig, options: ToJsonOptions = {}): McpServerConfig {
  const hide = createHide(options.secrets ?? "omit");
  const { transport, auth, connectTimeoutMs, callTimeoutMs, ...rest } = config;
  const facts: Readonly<Record<string, unknown>> = {
    ...rest,
    ...transportKeys(transport, hide),
    auth: authKeys(auth, hide),
    ...timeoutKeys(connectTimeoutMs, callTimeoutMs),
  };
  const written = Object.entries(entryKeys)
    .map(([key, spec]) => ({
      key,
      value: facts[key],
      fallback: "default" in spec ? spec.default : undefined,
    }))
    .filter(({ value, fallback, key }) => value !== fallback && !isEmpty(key, value));
  return Object.fromEntries(written.map(({ key, value }) => [key, value])) as McpServerConfig;
}

interface Hide {
  /** Returns the value to write, or undefined to leave it out. */
  value(value: ConfigText): string | undefined;
  all(values: Readonly<Record<string, ConfigText>>): Readonly<Record<string, string>>;
  /** Returns the text to write for an argument or address, which cannot be left out. */
  text(text: ConfigText): string;
}

function createHide(mode: NonNullable<ToJsonOptions["secrets"]>): Hide {
  const text = (given: ConfigText): string => (mode === "keep" ? reveal(given) : given.toString());
  const value = (given: ConfigText): string | undefined =>
    mode === "omit" && typeof given !== "string" ? undefined : text(given);
  return {
    value,
    all: (values) =>
      Object.fromEntries(
        Object.entries(values).flatMap(([name, given]) => {
          const shown = value(given);
          return shown === undefined ? [] : [[name, shown] as const];
        }),
      ),
    text,
  };
}

function transportKeys(transport: TransportConfig, hide: Hide): Readonly<Record<string, unknown>> {
  switch (transport.kind) {
    case "none":
    case "memory":
      return { transport: undefined };
    case "stdio": {
      const { kind: _kind, env, args, ...rest } = transport;
      return {
        ...rest,
        transport: undefined,
        args: args.map((arg) => hide.text(arg)),
        env: hide.all(env),
      };
    }
    case "http":
    case "streamable-http":
    case "sse":
    case "http-post":
    case "rest": {
      const { kind, url, headers, messageEndpoint, ...rest } = transport;
      return {
        ...rest,
        ...(messageEndpoint === undefined ? {} : { messageEndpoint: hide.text(messageEndpoint) }),
        // A bare `url` already means `http`.
        transport: kind === "http" ? undefined : kind,
        url: hide.text(url),
        headers: hide.all(headers),
      };
    }
  }
}

function authKeys(auth: AuthConfig, hide: Hide): unknown {
  if (auth.type === "none") return undefined;
  if (auth.type === "bearer") {
    const token = hide.value(auth.token);
    return token === undefined ? undefined : { type: auth.type, token };
  }
  const keys = Object.entries(auth).flatMap(([key, value]: [string, unknown]) => {
    const isSecret = (oauthSecretKeys as readonly string[]).includes(key);
    const shown = isSecret ? hide.value(value as ConfigText) : value;
    return shown === undefined ? [] : [[key, shown] as const];
  });
  return Object.fromEntries(keys);
}

function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}

function timeoutKeys(
  connectTimeoutMs: number | undefined,
  callTimeoutMs: number | undefined,
): Readonly<Record<string, unknown>> {
  return connectTimeoutMs === callTimeoutMs
    ? { timeout: inSeconds(callTimeoutMs) }
    : { connectTimeout: inSeconds(connectTimeoutMs), callTimeout: inSeconds(callTimeoutMs) };
}

// An empty `enabledTools` means no tools, an empty `isolation` a home of its own, so these are written.
const meaningfulWhenEmpty: ReadonlySet<string> = new Set(["enabledTools", "isolation"]);

function isEmpty(key: string, value: unknown): boolean {
  if (value === undefined) return true;
  if (typeof value !== "object" || value === null) return false;
  return Object.keys(value).length === 0 && !meaningfulWhenEmpty.has(key);
}
