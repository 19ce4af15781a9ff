/** The shape of `src/` as data: what may import what, and who may do the few dangerous things. */

export interface Room {
  readonly name: string;
  readonly holds: string;
  /**
   * Set for surfaces: the only rooms and files whose code they may run. They import types from every
   * room before them, like any other room.
   */
  readonly runs?: readonly string[];
  /**
   * The sub-folders of a large room, lowest first, with what each holds: a district imports itself and
   * what stands before it here. Single files of the room's own folder may stand among them; those that
   * do not, lie above all districts.
   */
  readonly districts?: Readonly<Record<string, string>>;
}

/** Lowest first: a room imports itself and the rooms below it, which stand before it here. */
export const rooms: readonly Room[] = [
  { name: "errors", holds: "`McpError`, its closed list of codes, one thin subclass per family" },
  {
    name: "text",
    holds: "redact, neutralize control characters, truncate, canonical hash, JSON objects",
    districts: {
      "truncate.ts": "cuts text at a length without breaking a character",
      secrets: "finds and masks what must not be shown",
      untrusted: "text of strangers: hidden characters, lookalikes, orders, bounds",
    },
  },
  { name: "events", holds: "the typed union of everything an outsider can observe" },
  {
    name: "ports",
    holds:
      "what the host needs from outside: `Clock`, `Logger`, its own files, a process that goes on",
  },
  {
    name: "async",
    holds: "waiting: signals, deadlines, turns, slices of time",
  },
  {
    name: "human",
    holds: "how a person is asked: the `Human` port, what is shown, one question after the other",
  },
  {
    name: "config",
    holds: "any config shape to `ServerConfig`: layers, `${VAR}`, provenance, import, edits",
    districts: {
      keys: "the table of keys and values, and what is wrong with one",
      variables: "`${VAR}` references: where they stand and what they ask for",
      parse: "an entry of any accepted shape becomes a `ServerConfig`",
      files: "which files there are, how they are read, watched and written",
      edit: "changes to a file that leave comments and order alone",
      sources: "files of other programs: where they lie, and how their entries become ours",
    },
  },
  {
    name: "schema",
    holds: "guard, validators, type emitter; runs in a browser too",
    districts: {
      guard: "what a schema says, and whether it is safe to work with",
      compile: "a schema becomes checks that count their steps",
      validate: "a value is checked, here or in a thread",
      "emit-types": "TypeScript declarations from schemas",
    },
  },
  {
    name: "policy",
    holds: "pure decisions with the rule that decided: who may do what, who is asked",
  },
  {
    name: "store",
    holds: "database schema, migrations, repositories; the only SQL; opens when needed",
    districts: {
      tables: "tables, migrations, and how any database is spoken to",
      sqlite: "a file or memory, with one writer thread",
      postgres: "a shared database",
      rows: "grants, pins, approvals, servers, catalogs, secrets",
      audit: "the trail of calls, written in pages",
    },
  },
  {
    name: "secrets",
    holds:
      "the vault: sealed rows, and who holds their key; references become values at the last moment",
    districts: {
      seal: "how secrets and their key are sealed, and what is refused",
      keychain: "the keychain of the operating system, asked from a process of its own",
      holders: "who can hold the key: environment, passphrase, keychain, a file",
    },
  },
  {
    name: "isolation",
    holds:
      "file, folder and environment of a child, process tree, sandbox, network guard, URL opener",
    districts: {
      process: "what a server is started with, and how nothing of it is left",
      network: "which addresses a server's connection may reach, and through which proxy",
    },
  },
  { name: "listener", holds: "one hardened loopback HTTP listener" },
  {
    name: "auth",
    holds: "OAuth provider, refresh under a lock, bearer, client credentials",
    districts: {
      "auth-error.ts": "refusals of a sign-in, as errors that are safe to show",
      "sign-in-settings.ts": "what an entry says about signing in, and the name of its sign-in",
      "sign-in-record.ts": "a sign-in as the vault keeps it",
      oauth: "the steps of the protocol: challenge, discovery, client, tokens, proofs",
      browser: "a person signs in: the page, and the address that the browser returns to",
      keeping: "tokens kept and renewed, once for every call and process",
    },
  },
  {
    name: "protocol",
    holds:
      "the MCP client over any transport: messages, ids, eras, deadlines, checked results; no I/O",
    districts: {
      wire: "JSON-RPC messages and the words in them",
      "protocol-client.ts": "what a client of any era offers",
      channel: "pending requests, their deadlines, notifications and requests of the server",
      input: "rounds of `input_required`",
      era: "which protocol version a server speaks",
      client: "tools, resources, prompts and subscriptions over a channel",
      sdk: "the same client over the official SDK",
    },
  },
  {
    name: "transport",
    holds: "the only place that spawns a server or opens a connection to one",
    districts: {
      reading: "bytes become bounded messages",
      "host-transport.ts": "what the host needs of any transport",
      stdio: "a child process and its pipes",
      http: "one HTTP exchange: limits, redirects, errors, event streams",
      dialects: "Streamable HTTP, SSE, plain POST, REST",
    },
  },
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
  {
    name: "session",
    holds: "one agent: rights, state, prompt section, native tools",
    districts: {
      "mcp-tool.ts": "a tool as an agent sees it",
      rights: "what the agent may see, hear and call, and when a person is asked",
      content: "resources and prompts of servers",
      state: "what a session remembers, and drafts of it",
      native: "the program's own tools and transactions, and what their code is given",
      tools: "which tools are offered, what a name stands for, and why not",
      prompt: "parts of a prompt, and what servers are said to offer in it",
    },
  },
  {
    name: "host",
    holds: "`createHost()` wires all of it; what every surface talks to",
    districts: {
      logs: "what servers printed and how they fared, kept in files",
      "contract-report.ts": "how a server keeps to the protocol",
      "doctor-report.ts": "what a look for trouble finds",
      "host-secrets.ts": "secrets that entries can name",
      "host.ts": "what a program can ask of a host",
      "own-files.ts": "where a host keeps its own files",
      "shared-host.ts": "what several surfaces can ask of a host, also from another process",
      resident: "a host that other processes use: how it is found, used, and asked through",
      files: "configuration files: imported from other programs, checked, converted",
      secrets: "what entries must not say in clear text: kept, found, moved to the vault",
      servers: "where servers are defined, how they are changed, connected and shown",
      contract: "the rules of the protocol for servers, as checks that run",
      doctor: "what can be wrong with a host and its servers, as checks that run",
    },
  },
  {
    name: "testing",
    holds: "test and demo servers, in-memory helpers; shipped as `plugboard/testing`",
    districts: {
      serve: "a server reached over stdio, HTTP, SSE or REST",
      authorization: "an OAuth authorization server, and servers that ask for its tokens",
    },
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
    holds: "`(Request) => Response` API, and how it is served; `web/page/` is the settings page",
    runs: ["errors", "text", "events", "schema", "host", "listener"],
  },
  {
    name: "cli",
    holds: "`main.ts`, one file per command, the REPL; the only place that prints or exits",
    runs: [
      "errors",
      "text",
      "events",
      "ports",
      "async",
      // How a problem and its place in a file are worded; what is configured is asked of the host.
      "config/keys/config-problem.ts",
      "config/files/write-file-atomic.ts",
      // How an entry reads: no state, no files.
      "config/parse/to-json.ts",
      // The person's editor needs the terminal, which is the command line's.
      "isolation/process/run-editor.ts",
      // The browser of the person at the terminal.
      "isolation/open-url.ts",
      // How a block of a server's answer reads: no state, no I/O.
      "protocol/client/result-text.ts",
      "schema",
      "host",
      "listener",
      "testing",
      "gateway",
      "web",
    ],
    districts: {
      terminal: "how text gets to a terminal, a pipe or a file",
      output: "what is printed, and how an error reads",
      human: "how a person is asked in a terminal",
      words: "what was typed becomes a call",
      context: "what a command is given: terminal, output, signal, and whose work it is",
      steps: "what commands are made of: open, connect, approve, sign in, wait",
      completion: "what a shell offers at Tab, from what is known",
      repl: "lines typed one after the other: what is typed, asked and told, as which agent",
      commands: "one file per command",
    },
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
    // A call of the keychain that hangs can be ended only together with its process: decision 36.
    allowed: ["transport", "isolation", "listener", "secrets/keychain/process-keychain.ts"],
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
    allowed: [
      "cli",
      "ports/default-logger.ts",
      "testing/run-stdio.ts",
      "testing/serve/serve-stdio.ts",
    ],
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
    // `direct-client.ts` is the deliberate way without a host, and thus without policy.
    allowed: ["call", "protocol", "connection/direct-client.ts"],
    methods: ["callTool"],
    calls: [
      { method: "request", argument: "tools/call" },
      { method: "sendRequest", argument: "tools/call" },
    ],
  },
];

/** Names that say nothing about what a file holds. */
export const refusedFileNames = /^types$|(?:^|-)(?:utils?|helpers?|common|misc|manager|service)$/;

/** A file is one thought of a reader; most are far shorter. */
export const maxFileLines = 600;

/** Files in one folder, tests not counted: what a reader can take in at a glance. */
export const maxFolderFiles = 16;

/** Rooms end in a slash, single files do not. */
function listPlaces(places: readonly string[]): string {
  return places.map((place) => `\`${place}${place.endsWith(".ts") ? "" : "/"}\``).join(", ");
}

/** The tables of `docs/architecture.md`, highest first. */
export function renderTables(): string {
  const roomRows = [...rooms, ...publicEntries].toReversed().map(({ name, holds, runs }) => {
    const may = runs === undefined ? "everything below it" : listPlaces(runs);
    return `| ${listPlaces([name])} | ${holds} | ${may} |`;
  });
  const districtRows = rooms.toReversed().flatMap(({ name, districts = {} }) =>
    Object.entries(districts)
      .toReversed()
      .map(([district, holds]) => `| ${listPlaces([`${name}/${district}`])} | ${holds} |`),
  );
  const doorRows = doors.map(({ what, allowed }) => `| ${what} | ${listPlaces(allowed)} |`);
  return [
    "| room | holds | may run code of |",
    "| --- | --- | --- |",
    ...roomRows,
    "",
    "| district | holds |",
    "| --- | --- |",
    ...districtRows,
    "",
    "| only these may | |",
    "| --- | --- |",
    ...doorRows,
  ].join("\n");
}
