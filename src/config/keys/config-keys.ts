import { longestTimerMs } from "../../ports/clock.ts";
import { namingPresets, type ValueProvider } from "./server-config.ts";
import { type KeyTable, spellingsOf, type ValueOf, type ValuesOf } from "./value-shape.ts";

const text = { type: "text" } as const;
const flag = { type: "flag" } as const;
const list = { type: "list" } as const;
const secretText = { type: "text", acceptsSecrets: true } as const;
const secretList = { type: "list", acceptsSecrets: true } as const;
const seconds = {
  type: "number",
  minimum: 0,
  maximum: Math.floor(longestTimerMs / 1_000),
  unit: "seconds",
} as const;
const milliseconds = {
  type: "number",
  minimum: 0,
  maximum: longestTimerMs,
  unit: "milliseconds",
} as const;
const transportKinds = {
  type: "choice",
  values: ["stdio", "http", "streamable-http", "sse", "http-post", "rest"],
  spellings: ["streamableHttp", "streamable_http"],
} as const;

const stdioKeys = {
  command: {
    shape: { type: "either", shapes: [text, secretList] },
    description:
      "The program that is the server, started without a shell. A list holds the arguments too. A relative path with a slash is looked up in `cwd`, else in the folder that holds the configuration.",
    only: "stdio",
  },
  args: {
    shape: secretList,
    description: "Its arguments. Every process can read them: secrets belong in `env`.",
    only: "stdio",
  },
  cwd: {
    shape: text,
    description:
      "The folder it starts in; relative to the folder that holds the configuration. `${workspaceFolder}` at its beginning stands for the folder you work in, `${userHome}` for your home; both are replaced in all other paths and values, too. Without it a server of a project starts in the project, one of your own in a folder of its own.",
    only: "stdio",
  },
  env: {
    shape: { type: "map", namePattern: "^[^=\\u0000]+$" },
    description:
      "Environment variables for the server. `${VAR}`, `${VAR:-default}` and `${secret:name}` (see `plugboard secret`) are replaced when it starts; `$${` stands for `${`.",
    only: "stdio",
  },
  envFile: {
    shape: text,
    description:
      "A file of lines `NAME=value` with more of them, read when it starts; relative to the folder that holds the configuration. `env` wins. The file of a project lies in the project, and none may set a variable that changes what is executed, such as PATH.",
    only: "stdio",
  },
  envPassthrough: {
    shape: list,
    description: "Names of variables of this environment that the server may see.",
    only: "stdio",
  },
  inheritEnv: {
    shape: { type: "choice", values: ["safe", "none", "all"] },
    description:
      "What else it sees: `safe` is PATH, HOME, language and temporary folders; `all` hands over every variable.",
    default: "safe",
    only: "stdio",
  },
  expandArgs: {
    shape: flag,
    description: "Replaces `${VAR}` in `args` too, where every process can read the result.",
    default: false,
    only: "stdio",
  },
} as const satisfies KeyTable;

const httpKeys = {
  url: {
    shape: secretText,
    description: "The address of a remote server (http or https); may hold `${VAR}`.",
    aliases: ["serverUrl", "httpUrl"],
    only: "http",
  },
  headers: {
    shape: {
      type: "map",
      namePattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
      valuePattern: "^[\\t\\u0020-\\u007e\\u0080-\\u00ff]*$",
    },
    description: "Sent with every request; values may hold `${VAR}` and `${secret:name}`.",
    only: "http",
  },
  method: {
    shape: { type: "choice", values: ["GET", "POST"] },
    description:
      "`GET` refuses a server that does not open a stream of its own after the handshake; messages are POSTed either way.",
    default: "POST",
    only: "http",
  },
  messageEndpoint: {
    shape: secretText,
    description:
      "Where an SSE server takes messages: `auto` waits for the address it announces, `derive` turns `/sse` into `/message`, anything else is the address itself.",
    only: "http",
  },
  allowPrivateNetwork: {
    shape: flag,
    description:
      "Allows addresses of private networks. Without it this machine is allowed where the URL names it plainly, as `localhost` or `127.0.0.1`.",
    default: false,
    only: "http",
  },
} as const satisfies KeyTable;

const authKeys = {
  type: {
    shape: { type: "choice", values: ["none", "bearer", "oauth"] },
    description: "How the server is told who is calling.",
  },
  token: {
    shape: secretText,
    description: "For `bearer`: the token, best as `${secret:name}` or `${VAR}`.",
  },
  clientId: { shape: text, description: "For `oauth`: a client registered by hand." },
  clientSecret: {
    shape: secretText,
    description: "Its secret, best as `${secret:name}` or `${VAR}`.",
  },
  authUrl: {
    shape: text,
    description: "The authorization endpoint; found by discovery when left out.",
    aliases: ["authorizationUrl"],
  },
  tokenUrl: {
    shape: text,
    description: "The token endpoint; found by discovery when left out.",
  },
  scopes: {
    shape: { type: "either", shapes: [list, text] },
    description: "What to ask for, as a list or separated by spaces.",
    aliases: ["scope"],
  },
  issuer: {
    shape: text,
    description:
      "The only authorization server that may be used; whichever the server names first when left out.",
  },
  redirectUri: { shape: text, description: "A fixed address to return to after signing in." },
  callbackPort: {
    shape: { type: "number", minimum: 1, maximum: 65_535, isInteger: true },
    description: "A fixed local port to return to, instead of `redirectUri`.",
  },
  clientMetadataUrl: { shape: text, description: "A client metadata document used as client id." },
  clientAuthMethod: {
    shape: {
      type: "choice",
      values: ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"],
    },
    description:
      "How the client shows who it is when it asks for a token: its secret in a header or in the body, or a signed assertion. What the authorization server supports when left out.",
  },
  grant: {
    shape: {
      type: "choice",
      values: ["authorization_code", "client_credentials", "jwt-bearer", "enterprise"],
    },
    description:
      "`authorization_code` asks a person in a browser. The others sign in without one: `client_credentials` with `clientSecret` or `privateKey`, `jwt-bearer` with `assertion`, `enterprise` with the `idToken` of an identity provider.",
    default: "authorization_code",
    aliases: ["grantType"],
  },
  privateKey: {
    shape: secretText,
    description: "A private key (PEM) that signs the client's assertions, in place of a secret.",
  },
  assertion: {
    shape: secretText,
    description: "For `jwt-bearer`: the assertion, best as `${VAR}`.",
  },
  identityProvider: {
    shape: text,
    description: "For `enterprise`: the address of the company's identity provider.",
  },
  idToken: {
    shape: secretText,
    description: "For `enterprise`: the token by which the identity provider knows the user.",
  },
  idpClientId: {
    shape: text,
    description: "For `enterprise`: the client id at the identity provider.",
  },
  idpClientSecret: { shape: secretText, description: "Its secret there, if it has one." },
  dpop: { shape: flag, description: "Binds tokens to a key of this host.", default: false },
} as const satisfies KeyTable;

const isolationKeys = {
  sandbox: { shape: flag, description: "Runs the server in a sandbox." },
  network: {
    shape: {
      type: "object",
      isClosed: true,
      keys: { domains: { shape: list, description: "The only hosts it may reach." } },
    },
    description: "Its network: nothing but these hosts.",
  },
  paths: {
    shape: {
      type: "object",
      isClosed: true,
      keys: {
        read: { shape: list, description: "Folders it may read." },
        write: { shape: list, description: "Folders it may read and change." },
      },
    },
    description: "Folders outside its own it may use; relative to the configuration's folder.",
  },
  limits: {
    shape: {
      type: "object",
      isClosed: true,
      keys: {
        memory: {
          shape: {
            type: "text",
            pattern: "^[0-9]+([KMG]i?B?)?$",
            expects: 'a size such as "512M"',
          },
          description: "The most memory it may use, such as `512M`.",
        },
        processes: {
          shape: { type: "number", minimum: 1, isInteger: true },
          description: "The most processes it may have at once.",
        },
      },
    },
    description: "What it may use of the machine.",
  },
} as const satisfies KeyTable;

const inputKeys = {
  id: { shape: { type: "text", maxLength: 128 }, description: "What `${input:id}` names." },
  type: {
    shape: { type: "choice", values: ["promptString", "pickString", "command"] },
    description: "`promptString` asks for a text, `pickString` for one of `options`.",
    default: "promptString",
  },
  description: {
    shape: { type: "text", maxLength: 1_000 },
    description: "What the person who is asked should know.",
  },
  password: {
    shape: flag,
    description:
      "What is typed is not shown, and is kept sealed for later starts. Other answers are kept, as secrets too, until the program ends.",
    default: false,
  },
  default: { shape: text, description: "The answer that is suggested." },
  options: { shape: list, description: "Of `pickString`: what there is to choose from." },
} as const satisfies KeyTable;

/** Every key of a server's entry, in the order in which entries are written. */
export const entryKeys = {
  name: {
    shape: text,
    description: "The server's name, where entries stand in a list; in an object the key is it.",
  },
  transport: {
    shape: {
      type: "either",
      shapes: [
        transportKinds,
        {
          type: "object",
          keys: {
            kind: {
              shape: transportKinds,
              description: "As `transport` itself.",
              aliases: ["type"],
            },
            ...stdioKeys,
            ...httpKeys,
          },
        },
      ],
    },
    description:
      "How to talk to the server. Left out, `command` means `stdio` and `url` means `http`, which finds out what the address speaks. An object may hold the keys of the transport.",
    aliases: ["type"],
  },
  ...stdioKeys,
  ...httpKeys,
  auth: {
    shape: {
      type: "either",
      shapes: [
        { type: "choice", values: ["none", "oauth"] },
        { type: "object", keys: authKeys },
      ],
    },
    description: "Who is calling; values may hold `${VAR}`.",
    only: "http",
  },
  inputs: {
    shape: { type: "objects", keys: inputKeys },
    description:
      "What `${input:id}` in its other keys asks a person for when the server first starts; VS Code writes it once for a whole file, beside `servers`.",
  },
  enabled: {
    shape: flag,
    description:
      "`false` switches the server off. Such an entry needs nothing else and hides one of the same name farther away.",
    default: true,
  },
  disabled: { shape: flag, description: "The opposite of `enabled`, as other hosts write it." },
  start: {
    shape: { type: "choice", values: ["lazy", "eager"] },
    description: "`lazy` starts it when it is first needed, `eager` at once.",
  },
  timeout: {
    shape: seconds,
    description: "Seconds to wait for a connection and for each call; 0 waits without end.",
  },
  timeoutMs: { shape: milliseconds, description: "`timeout` in milliseconds." },
  connectTimeout: { shape: seconds, description: "`timeout` for connecting only." },
  connectTimeoutMs: { shape: milliseconds, description: "The same in milliseconds." },
  callTimeout: { shape: seconds, description: "`timeout` for calls only." },
  callTimeoutMs: { shape: milliseconds, description: "The same in milliseconds." },
  reconnect: { shape: flag, description: "Connects again after a loss.", default: true },
  maxReconnectAttempts: {
    shape: { type: "number", minimum: 0, maximum: 1_000, isInteger: true },
    description: "How often it tries before it gives up.",
    default: 3,
  },
  halfOpen: {
    shape: flag,
    description: "After giving up, still tries once in a while.",
    default: false,
  },
  toolPrefix: {
    shape: { type: "text", maxLength: 64 },
    description: "What `prefix_tool` names begin with, instead of the server's name.",
  },
  enabledTools: {
    shape: list,
    description:
      "The only tools offered, by the names the server gives them; an empty list offers none.",
  },
  disabledTools: { shape: list, description: "Tools never offered, whatever `enabledTools` says." },
  naming: {
    shape: { type: "choice", values: namingPresets },
    description: "How the public names of its tools are built.",
  },
  descriptionLimit: {
    shape: { type: "number", minimum: 1, isInteger: true },
    description: "Cuts longer tool descriptions at this many characters.",
  },
  protocol: {
    shape: {
      type: "text",
      pattern: "^(auto|[0-9]{4}-[0-9]{2}-[0-9]{2})$",
      expects: '"auto" or a revision such as "2025-11-25"',
    },
    description: "`auto`, or the one protocol revision to speak.",
    default: "auto",
  },
  strict: {
    shape: flag,
    description: "Closes the connection at the first protocol slip.",
    default: false,
  },
  skipReadOnlyPrompts: {
    shape: flag,
    description: "Believes the server when it calls a tool read-only, and does not ask.",
    default: false,
  },
  isolation: {
    shape: { type: "object", keys: isolationKeys, isClosed: true },
    description: "Keeps the server apart from the rest of the machine.",
    only: "stdio",
  },
  importedFrom: {
    shape: { type: "text", maxLength: 4_096 },
    description: "The file and line of another program that the entry was imported from.",
  },
} as const satisfies KeyTable;

/** Every spelling of every key of an entry. */
export const entrySpellings = spellingsOf(entryKeys);

export type EntryKey = keyof typeof entryKeys;
export type CheckedEntry = ValuesOf<typeof entryKeys>;
export type CheckedAuth = Exclude<CheckedEntry["auth"], string | undefined>;
export type CheckedInputs = NonNullable<CheckedEntry["inputs"]>;
export type TransportName = ValueOf<typeof transportKinds>;

/** Keys that identify a server; a file's `defaults` cannot hold them. */
export const identityKeys: ReadonlySet<string> = new Set([
  "name",
  "transport",
  "command",
  "args",
  "url",
  "toolPrefix",
  "importedFrom",
] satisfies EntryKey[]);

type AliasOf<K extends EntryKey> = (typeof entryKeys)[K] extends {
  readonly aliases: readonly (infer Alias extends string)[];
}
  ? Alias
  : never;

/**
 * One server as a programmer writes it, with the names that other hosts have for some keys. A key that is
 * not here does not compile; snake_case spellings are for files.
 */
export type ServerEntry = {
  readonly [K in EntryKey]?: CheckedEntry[K] | null | undefined;
} & {
  readonly [K in EntryKey as AliasOf<K>]?: CheckedEntry[K] | null | undefined;
};

type OrProvider<Values> =
  Values extends Readonly<Record<string, infer Value>>
    ? Readonly<Record<string, Value | ValueProvider>>
    : Values;

/**
 * A server given in code, whose `env`, `headers` and `auth.token` may have functions as values: each is called when
 * the server starts. An entry that is to be kept cannot have them.
 */
export type CodeEntry = Omit<ServerEntry, "env" | "headers" | "auth"> & {
  readonly env?: OrProvider<ServerEntry["env"]>;
  readonly headers?: OrProvider<ServerEntry["headers"]>;
  readonly auth?:
    | Exclude<ServerEntry["auth"], CheckedAuth>
    | (Omit<CheckedAuth, "token"> & { readonly token?: CheckedAuth["token"] | ValueProvider });
};

/** A `ServerEntry` that holds its own name, for lists. */
export type McpServerConfig = ServerEntry & { readonly name: string };
