import type { SecretText } from "../../text/secrets/secret-text.ts";

/** Text of an entry. A plain string may be shown; a text that may be a secret is a `SecretText`. */
export type ConfigText = string | SecretText;

/**
 * Gives a value of an entry whenever its server starts; undefined when there is none. What it gives is a secret, is
 * used as it is and not kept.
 */
export type ValueProvider = () =>
  | ConfigText
  | undefined
  | Promise<ConfigText>
  | Promise<ConfigText | undefined>;

/** A key of `ServerConfig` that no file can have, and that copies of the object keep. */
export const valueProviders: unique symbol = Symbol.for("plugboard.valueProviders") as never;

/** The origin of an entry. Approval depends on it, and every error message names it. */
export interface Provenance {
  readonly layer: ConfigLayer;
  /** The file, when the entry came from one. */
  readonly path?: string;
  /** 1-based position of the entry in that file. */
  readonly line?: number;
  readonly column?: number;
}

/** Whether the author of the project wrote the entry, and not its user. */
export function isOfProject({ layer }: Provenance): boolean {
  return layer === "project" || layer === "ancestor";
}

/** Whether the user wrote the entry for every project: in their file, or through the host into the store. */
export function isUsersOwn({ layer }: Provenance): boolean {
  return layer === "user" || layer === "store";
}

/** Returns the origin of a server in the form that error details have. */
export function definitionOf({ layer, path, line }: Provenance): {
  readonly layer: ConfigLayer;
  readonly definedAt?: string;
} {
  if (path === undefined) return { layer };
  return { layer, definedAt: line === undefined ? path : `${path}:${line}` };
}

/** The layers, nearest first. An entry of a nearer layer replaces one of the same name in a farther layer. */
export const configLayers = ["code", "project", "ancestor", "user", "store", "demo"] as const;
export type ConfigLayer = (typeof configLayers)[number];

/** `Text` is plain once the server is about to start: see `resolveServer`. */
export interface StdioTransportConfig<Text extends ConfigText = ConfigText> {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly Text[];
  /**
   * Absolute when set; a relative one was resolved against the folder that holds the entry's layer. One that
   * begins with `${workspaceFolder}` or `${userHome}` is kept as it is written; see `launchFolder`.
   */
  readonly cwd?: string;
  /** Values may hold `${VAR}`; they are expanded when the server starts, never before. */
  readonly env: Readonly<Record<string, Text>>;
  /**
   * The file with further variables: an absolute path, or one that begins with `${workspaceFolder}` or
   * `${userHome}`.
   */
  readonly envFile?: string;
  readonly envPassthrough: readonly string[];
  readonly inheritEnv: "safe" | "none" | "all";
  readonly expandArgs: boolean;
}

/** Kinds of servers with an address. `http` means that the host finds out which dialect the address speaks. */
export type HttpTransportKind = "http" | "streamable-http" | "sse" | "http-post" | "rest";

/** Whether a server of this kind can have a stream for messages that answer no request. */
export function hasServerStream(kind: HttpTransportKind): boolean {
  return kind !== "http-post" && kind !== "rest";
}

export interface HttpTransportConfig<Text extends ConfigText = ConfigText> {
  readonly kind: HttpTransportKind;
  readonly url: Text;
  readonly headers: Readonly<Record<string, Text>>;
  /**
   * `GET` requires the server's own stream to be open before the first call; messages are POSTed either
   * way.
   */
  readonly method: "GET" | "POST";
  readonly messageEndpoint?: Text;
  readonly allowPrivateNetwork: boolean;
}

/** An entry `{ "enabled": false }` disables a farther one and needs no transport of its own. */
export interface NoTransportConfig {
  readonly kind: "none";
}

/** A transport object handed over in code; the registry keeps the object itself. */
export interface MemoryTransportConfig {
  readonly kind: "memory";
}

/** Transports that reach nothing outside this process. */
export type InProcessTransportConfig = MemoryTransportConfig | NoTransportConfig;

export type TransportConfig<Text extends ConfigText = ConfigText> =
  | StdioTransportConfig<Text>
  | HttpTransportConfig<Text>
  | InProcessTransportConfig;
export type TransportKind = TransportConfig["kind"];

export type AuthConfig<Text extends ConfigText = ConfigText> =
  | { readonly type: "none" }
  | { readonly type: "bearer"; readonly token: Text }
  | OAuthConfig<Text>;

/** How tokens are asked for: by a person in a browser, or by the program alone. */
export type OAuthGrant = "authorization_code" | "client_credentials" | "jwt-bearer" | "enterprise";

/** How a client shows who it is when it asks for a token. */
export type ClientAuthMethod =
  | "client_secret_basic"
  | "client_secret_post"
  | "private_key_jwt"
  | "none";

export interface OAuthConfig<Text extends ConfigText = ConfigText> {
  readonly type: "oauth";
  readonly clientId?: string;
  readonly clientSecret?: Text;
  readonly authUrl?: string;
  readonly tokenUrl?: string;
  readonly scopes?: readonly string[];
  /** The only authorization server that may be used. */
  readonly issuer?: string;
  readonly redirectUri?: string;
  readonly callbackPort?: number;
  readonly clientMetadataUrl?: string;
  readonly clientAuthMethod?: ClientAuthMethod;
  readonly grant?: OAuthGrant;
  readonly privateKey?: Text;
  readonly assertion?: Text;
  readonly identityProvider?: string;
  readonly idToken?: Text;
  readonly idpClientId?: string;
  readonly idpClientSecret?: Text;
  readonly dpop?: boolean;
}

/** The keys of a sign-in with OAuth whose values are secrets. */
export const oauthSecretKeys = [
  "clientSecret",
  "privateKey",
  "assertion",
  "idToken",
  "idpClientSecret",
] as const satisfies readonly (keyof OAuthConfig)[];

/** How public tool names are built; see `catalog/` for what each preset gives. */
export const namingPresets = ["mcp__server__tool", "mcp_server_tool", "prefix_tool"] as const;
export type NamingPreset = (typeof namingPresets)[number];

export interface IsolationConfig {
  readonly sandbox?: boolean;
  readonly network?: { readonly domains: readonly string[] };
  readonly paths?: { readonly read: readonly string[]; readonly write: readonly string[] };
  readonly limits?: { readonly memory?: string; readonly processes?: number };
}

/** A value that a person is asked for when a server first starts. */
export interface InputDeclaration {
  /** The `id` in `${input:id}`. */
  readonly id: string;
  /** `command`: VS Code would run a command of its own for it. */
  readonly type: "promptString" | "pickString" | "command";
  readonly description?: string;
  readonly password?: boolean;
  readonly default?: string;
  readonly options?: readonly string[];
}

/** One server in canonical form: deeply frozen, every default filled in, times in milliseconds. */
export interface ServerConfig {
  readonly name: string;
  /** Slug of the name, unique among all servers. */
  readonly id: string;
  readonly transport: TransportConfig;
  readonly auth: AuthConfig;
  readonly enabled: boolean;
  /** Absent: the surface decides (`lazy` in library and one-shot commands, `eager` in `up`). */
  readonly start?: "lazy" | "eager";
  /** Absent: the host's limit applies. `0` means no limit. */
  readonly connectTimeoutMs?: number;
  readonly callTimeoutMs?: number;
  readonly reconnect: boolean;
  readonly maxReconnectAttempts: number;
  readonly halfOpen: boolean;
  readonly toolPrefix?: string;
  /** Absent means all, empty means none; original tool names. */
  readonly enabledTools?: readonly string[];
  /** Applied after `enabledTools`. */
  readonly disabledTools: readonly string[];
  readonly naming?: NamingPreset;
  /** Cuts descriptions shown to a model; absent means whole. */
  readonly descriptionLimit?: number;
  /** `auto`, or the one revision to speak. */
  readonly protocol: string;
  /** Makes a protocol violation close the connection instead of only being counted. */
  readonly strict: boolean;
  readonly skipReadOnlyPrompts: boolean;
  readonly isolation?: IsolationConfig;
  /** The inputs that the entry refers to. */
  readonly inputs?: readonly InputDeclaration[];
  /** The file and line of another program that the entry was imported from. */
  readonly importedFrom?: string;
  readonly provenance: Provenance;
  /** The functions that code gave in place of values, by the name that the entry refers to each with. */
  readonly [valueProviders]?: ReadonlyMap<string, ValueProvider>;
}
