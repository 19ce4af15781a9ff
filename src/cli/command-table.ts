import type { DefineCommand } from "./steps/command-context.ts";

/** What is known of a command before it is used. */
interface CommandRow {
  readonly summary: string;
  readonly load: () => Promise<{ readonly define: DefineCommand }>;
}

/** Every command, in the order of the help. */
export const commandTable = {
  up: {
    summary: "connect what is configured and stay; without configuration, show the demo servers",
    load: () => import("./commands/up.ts"),
  },
  add: {
    summary: "add a server by its command or its address, and try it",
    load: () => import("./commands/add.ts"),
  },
  "add-json": {
    summary: "add a server by its entry, as a file holds it",
    load: () => import("./commands/add-json.ts"),
  },
  get: {
    summary: "show all that is known of one server",
    load: () => import("./commands/get.ts"),
  },
  remove: {
    summary: "disconnect a server and delete its entry",
    load: () => import("./commands/remove.ts"),
  },
  enable: {
    summary: "switch a server on",
    load: async () => ({ define: (await import("./commands/switch.ts")).defineEnable }),
  },
  disable: {
    summary: "switch a server off",
    load: async () => ({ define: (await import("./commands/switch.ts")).defineDisable }),
  },
  call: {
    summary: "call one tool and print its result",
    load: () => import("./commands/call.ts"),
  },
  list: {
    summary: "list the configured servers",
    load: () => import("./commands/list.ts"),
  },
  tools: {
    summary: "list what can be called",
    load: () => import("./commands/tools.ts"),
  },
  types: {
    summary: "write a typed client for one server's tools",
    load: () => import("./commands/emit-types.ts"),
  },
  consent: {
    summary: "what agents may call without asking",
    load: () => import("./commands/consent.ts"),
  },
  why: {
    summary: "why an agent may or may not call a tool, rule by rule",
    load: () => import("./commands/why.ts"),
  },
  test: {
    summary: "start one server, list its tools, stop it",
    load: () => import("./commands/test.ts"),
  },
  approve: {
    summary: "let a server of a project start, or accept tools that changed, after a look at it",
    load: () => import("./commands/approve.ts"),
  },
  "test-server": {
    summary: "run the bundled test server",
    load: () => import("./commands/test-server.ts"),
  },
} satisfies Readonly<Record<string, CommandRow>>;

export type CommandName = keyof typeof commandTable;
