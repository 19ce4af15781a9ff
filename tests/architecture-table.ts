/** The shape of `src/` as data: what may import what, and who may do the few dangerous things. */

export interface Room {
  readonly name: string;
  readonly holds: string;
  /**
   * Set for surfaces: the only rooms and files whose code they may run. They import types from every
   * room before them, like any other room.
   */
  readonly runs?: readonly string[];
}

/** Lowest first: a room imports itself and the rooms before it, nothing else. */
export const rooms: readonly Room[] = [
  { name: "errors", holds: "`McpError`, its closed list of codes, one thin subclass per family" },
  { name: "text", holds: "redact, neutralize control characters, truncate, canonical hash" },
  { name: "events", holds: "the typed union of everything an outsider can observe" },
  {
    name: "ports",
    holds: "what the host needs from outside: `Clock`, `Logger`, the package's own files",
  },
  {
    name: "human",
    holds: "how a person is asked: the `Human` port, what is shown, one question after the other",
  },
  {
    name: "config",
    holds: "any config shape to `ServerConfig`: layers, `${VAR}`, provenance, import, edits",
  },
  { name: "schema", holds: "guard, validators, type emitter; runs in a browser too" },
  {
    name: "policy",
    holds: "pure decisions with the rule that decided: who may do what, who is asked",
  },
  {
    name: "store",
    holds: "database schema, migrations, repositories; the only SQL; opens when needed",
  },
  {
    name: "secrets",
    holds: "keychain or encrypted file; references become values at the last moment",
  },
  {
    name: "isolation",
    holds:
      "file, folder and environment of a child, process tree, sandbox, network guard, URL opener",
  },
  { name: "listener", holds: "one hardened loopback HTTP listener" },
  { name: "auth", holds: "OAuth provider, refresh under a lock, bearer, client credentials" },
  {
    name: "protocol",
    holds:
      "the MCP client over any transport: messages, ids, eras, deadlines, checked results; no I/O",
  },
  { name: "transport", holds: "the only place that spawns a server or opens a connection to one" },
  { name: "connection", holds: "one server's life: states, handshake, health, reconnect" },
  {
    name: "approval",
    holds: "which launches a person has approved: what is asked, the answer, how it is kept",
  },
  { name: "registry", holds: "which servers exist, from where, who sees them; shared connections" },
  {
    name: "pins",
    holds: "what each tool was when it was accepted; what has changed since waits for a person",
  },
  {
    name: "catalog",
    holds: "tools, resources, prompts of all servers: public names",
  },
  {
    name: "grants",
    holds: "what people have allowed: for a session, while the host lives, for good",
  },
  { name: "requests", holds: "what a server asks of us, through the `Human` port" },
  { name: "call", holds: "the one path of a call, its `Outcome`, result normalization and limits" },
  { name: "session", holds: "one agent: rights, state, prompt section, native tools" },
  {
    name: "host",
    holds: "`createHost()` wires all of it; what every surface talks to",
  },
  {
    name: "testing",
    holds: "test and demo servers, in-memory helpers; shipped as `plugboard/testing`",
  },
  {
    name: "adapters",
    holds: "one file per agent framework, structural types, no framework dependency",
    // What a model is shown of a tool, and of its results, is not theirs to say.
    runs: ["errors", "text", "catalog/provider-schema.ts", "call/model-text.ts", "host"],
  },
  {
    name: "gateway",
    holds: "the host served as one MCP server",
    runs: ["errors", "text", "events", "host"],
  },
  {
    name: "web",
    holds: "`(Request) => Response` API; `web/page/` is the settings page",
    runs: ["errors", "text", "events", "schema", "host"],
  },
  {
    name: "cli",
    holds: "`main.ts`, one file per command, the REPL; the only place that prints or exits",
    runs: [
      "errors",
      "text",
      "events",
      "ports",
      // How a problem and its place in a file are worded; what is configured is asked of the host.
      "config/keys/config-problem.ts",
      "config/files/write-file-atomic.ts",
      "schema",
      "host",
      "listener",
      "testing",
      "gateway",
      "web",
    ],
  },
];

/** The public API: these may name everything, nothing may import them. */
export const publicEntries: readonly Room[] = [
  { name: "index.ts", holds: "the main entry `plugboard`, named exports only" },
  { name: "entries", holds: "one file for each entry beside it: `plugboard/client`, …" },
];

export interface Door {
  readonly what: string;
  /** Rooms (`cli`) and single files (`protocol/sdk/sdk-client.ts`) that may pass. */
  readonly allowed: readonly string[];
  /** Module names; a trailing `*` stands for anything. Type-only imports always pass. */
  readonly modules?: readonly string[];
  readonly globals?: readonly string[];
  /** `object.property`, read or called. */
  readonly members?: readonly string[];
  /** Methods called on anything. */
  readonly methods?: readonly string[];
  /** `method("first argument")` on anything. */
  readonly calls?: readonly { readonly method: string; readonly argument: string }[];
  /** String and template literals. */
  readonly literals?: RegExp;
}

/** Things that only a few rooms may do, whatever the order of the rooms allows. */
export const doors: readonly Door[] = [
  {
    what: "start a process or open a connection",
    allowed: ["transport", "isolation", "listener"],
    modules: [
      "node:child_process",
      "node:cluster",
      "node:dgram",
      "node:dns",
      "node:dns/promises",
      "node:http",
      "node:http2",
      "node:https",
      "node:net",
      "node:tls",
      "undici",
      "undici/*",
      "cross-spawn",
    ],
    globals: ["fetch", "WebSocket", "EventSource", "XMLHttpRequest"],
  },
  {
    what: "run code of the MCP SDK",
    allowed: ["auth", "testing", "protocol/sdk/sdk-client.ts"],
    modules: ["@modelcontextprotocol/*"],
  },
  {
    what: "print, or end the process",
    // The two files of the bundled stdio servers are a program of their own: stdout is their wire.
    // A program that passes no logger still reads on stderr what went wrong.
    allowed: ["cli", "ports/default-logger.ts", "testing/run-stdio.ts", "testing/serve-stdio.ts"],
    modules: ["node:console"],
    globals: ["console"],
    members: [
      "process.stdout",
      "process.stderr",
      "process.exit",
      "process.exitCode",
      "process.abort",
      "process.reallyExit",
    ],
  },
  {
    what: "speak SQL",
    allowed: ["store"],
    modules: ["kysely", "pg", "node:sqlite", "@photostructure/sqlite", "better-sqlite3"],
    literals:
      /^\s*(?:select\s[^]*\sfrom\s|insert\s+(?:or\s+\w+\s+)?into\s|update\s+\S+\s+set\s|delete\s+from\s|(?:create|alter|drop)\s+(?:table|index|view|trigger)\s|pragma\s+\w+|begin\s+(?:immediate|exclusive|transaction))/i,
  },
  {
    what: "call a tool",
    // `connect-client.ts` is the deliberate way without a host, and thus without policy.
    allowed: ["call", "protocol", "connection/connect-client.ts"],
    methods: ["callTool"],
    calls: [
      { method: "request", argument: "tools/call" },
      { method: "sendRequest", argument: "tools/call" },
    ],
  },
];

/** Names that say nothing about what a file holds. */
export const refusedFileNames = /^types$|(?:^|-)(?:utils?|helpers?|common|misc|manager|service)$/;

export const maxFileLines = 400;

/** Rooms end in a slash, single files do not. */
function listPlaces(places: readonly string[]): string {
  return places.map((place) => `\`${place}${place.endsWith(".ts") ? "" : "/"}\``).join(", ");
}

/** The two tables of `docs/architecture.md`. */
export function renderTables(): string {
  const roomRows = [...rooms, ...publicEntries].map(({ name, holds, runs }) => {
    const may = runs === undefined ? "everything above it" : listPlaces(runs);
    return `| ${listPlaces([name])} | ${holds} | ${may} |`;
  });
  const doorRows = doors.map(({ what, allowed }) => `| ${what} | ${listPlaces(allowed)} |`);
  return [
    "| room | holds | may run code of |",
    "| --- | --- | --- |",
    ...roomRows,
    "",
    "| only these may | |",
    "| --- | --- |",
    ...doorRows,
  ].join("\n");
}
