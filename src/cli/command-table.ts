import type { DefineCommand } from "./context/command-context.ts";

/** What is known of a command before it is used. */
interface CommandRow {
  readonly summary: string;
  readonly load: () => Promise<{ readonly define: DefineCommand }>;
}

/** Every command, in the order of the help. */
export const commandTable = {
  up: {
    summary: "connect what is configured and stay; without configuration, show the demo servers",
    load: () => import("./commands/setup/up.ts"),
  },
  repl: {
    summary: "type commands one after the other, as an agent that a person sits beside",
    load: () => import("./commands/setup/repl.ts"),
  },
  add: {
    summary: "add a server by its command or its address, and try it",
    load: () => import("./commands/servers/add.ts"),
  },
  "add-json": {
    summary: "add a server by its entry, as a file holds it",
    load: () => import("./commands/servers/add-json.ts"),
  },
  import: {
    summary: "import the servers of another program",
    load: () => import("./commands/servers/import.ts"),
  },
  get: {
    summary: "show all that is known of one server",
    load: () => import("./commands/servers/get.ts"),
  },
  edit: {
    summary: "change the entry of a server, by options or in your editor, and try it",
    load: () => import("./commands/servers/edit.ts"),
  },
  remove: {
    summary: "disconnect a server and delete its entry",
    load: () => import("./commands/servers/remove.ts"),
  },
  enable: {
    summary: "switch a server on",
    load: async () => ({ define: (await import("./commands/servers/switch.ts")).defineEnable }),
  },
  disable: {
    summary: "switch a server off",
    load: async () => ({ define: (await import("./commands/servers/switch.ts")).defineDisable }),
  },
  connect: {
    summary: "switch a server on, connect it where programs run, and try it",
    load: async () => ({ define: (await import("./commands/servers/connect.ts")).defineConnect }),
  },
  disconnect: {
    summary: "disconnect a server and switch it off",
    load: async () => ({
      define: (await import("./commands/servers/connect.ts")).defineDisconnect,
    }),
  },
  reconnect: {
    summary: "try a server again that failed, also where programs run",
    load: async () => ({ define: (await import("./commands/servers/connect.ts")).defineReconnect }),
  },
  login: {
    summary: "sign in to a server, in your browser or with a token",
    load: () => import("./commands/servers/login.ts"),
  },
  logout: {
    summary: "sign out of a server, and give its tokens back",
    load: () => import("./commands/servers/logout.ts"),
  },
  call: {
    summary: "call one tool and print its result",
    load: () => import("./commands/tools/call.ts"),
  },
  list: {
    summary: "list the configured servers",
    load: () => import("./commands/servers/list.ts"),
  },
  tools: {
    summary: "list what can be called",
    load: () => import("./commands/tools/tools.ts"),
  },
  resources: {
    summary: "list what servers offer to read, or read one of it",
    load: () => import("./commands/tools/resources.ts"),
  },
  prompts: {
    summary: "list the prompts of servers, or fill one in",
    load: () => import("./commands/tools/prompts.ts"),
  },
  types: {
    summary: "write a typed client for one server's tools",
    load: () => import("./commands/tools/emit-types.ts"),
  },
  consent: {
    summary: "what agents may call without asking",
    load: () => import("./commands/records/consent.ts"),
  },
  secret: {
    summary: "secrets that entries of servers name, kept sealed",
    load: () => import("./commands/servers/secret.ts"),
  },
  why: {
    summary: "why an agent may or may not call a tool, rule by rule",
    load: () => import("./commands/records/why.ts"),
  },
  logs: {
    summary: "what a server printed, and how it started and ended",
    load: () => import("./commands/records/logs.ts"),
  },
  audit: {
    summary: "who called what, who decided, and how it ended",
    load: () => import("./commands/records/audit.ts"),
  },
  test: {
    summary: "start one server, list its tools, stop it",
    load: () => import("./commands/tools/test.ts"),
  },
  approve: {
    summary: "let a server of a project start, or accept tools that changed, after a look at it",
    load: () => import("./commands/servers/approve.ts"),
  },
  config: {
    summary: "check the configuration, or convert a file of it",
    load: () => import("./commands/setup/config.ts"),
  },
  doctor: {
    summary: "look for what is wrong, and say what to do about it",
    load: () => import("./commands/setup/doctor.ts"),
  },
  completion: {
    summary: "complete words at Tab in bash, zsh or fish",
    load: () => import("./commands/setup/completion.ts"),
  },
  "test-server": {
    summary: "run the bundled test server",
    load: () => import("./commands/setup/test-server.ts"),
  },
} satisfies Readonly<Record<string, CommandRow>>;

export type CommandName = keyof typeof commandTable;
