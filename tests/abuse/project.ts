import { createHook } from "node:async_hooks";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

import type { McpHost } from "../../src/index.ts";
import type { HostOptions, Product } from "./product.ts";
import { watchSpawns } from "./spawns.ts";

/** A repository that somebody has just cloned, and the home of the one who did. */
export class Project implements Disposable {
  readonly #root = realpathSync(mkdtempSync(path.join(tmpdir(), "plugboard-abuse-project-")));
  readonly home = path.join(this.#root, "home");
  readonly cwd = path.join(this.#root, "work");

  constructor() {
    mkdirSync(this.home);
    mkdirSync(path.join(this.cwd, ".plugboard"), { recursive: true });
  }

  get file(): string {
    return path.join(this.cwd, ".plugboard", "mcp.json");
  }

  write(servers: Readonly<Record<string, unknown>>): void {
    this.writeText(JSON.stringify({ mcpServers: servers }));
  }

  /** Servers of the user, which need no approval. */
  writeForUser(servers: Readonly<Record<string, unknown>>): void {
    const folder = path.join(this.home, ".plugboard");
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, "mcp.json"), JSON.stringify({ mcpServers: servers }));
  }

  writeText(text: string | Uint8Array): void {
    writeFileSync(this.file, text);
  }

  open(product: Product, options: HostOptions = {}): Promise<McpHost> {
    const { cwd, home } = this;
    return product.createHost({ cwd, home, watch: false, logger: false, ...options });
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}

export interface Seen {
  readonly url: string;
  readonly headers: string;
}

/** An address that writes down who comes and what they bring. */
export class Trap implements AsyncDisposable {
  readonly seen: Seen[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const headers = JSON.stringify(request.rawHeaders);
      this.seen.push({ url: request.url ?? "", headers });
      response.writeHead(404).end();
    });
  }

  static async open(): Promise<Trap> {
    const trap = new Trap();
    await new Promise<void>((resolve) => {
      trap.#server.listen(0, "127.0.0.1", resolve);
    });
    return trap;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}

export interface Traffic {
  readonly processes: number;
  readonly lookups: number;
  readonly connections: number;
}

/** The wraps of Node around what the system is asked for, also in vain. */
const kinds: Readonly<Record<string, "lookups" | "connections">> = {
  GETADDRINFOREQWRAP: "lookups",
  QUERYWRAP: "lookups",
  TCPCONNECTWRAP: "connections",
};

/** What this process starts, looks up and dials until the task is over. */
export async function watchTraffic(task: () => Promise<void>): Promise<Traffic> {
  const counts = { lookups: 0, connections: 0 };
  const hook = createHook({
    init(_id, type) {
      const kind = kinds[type];
      if (kind !== undefined) counts[kind] += 1;
    },
  });
  hook.enable();
  try {
    const spawns = await watchSpawns(task);
    return { processes: spawns.length, ...counts };
  } finally {
    hook.disable();
  }
}

/** Everything that can be done with a server without approving it. */
export async function tryEverything(host: McpHost, name: string): Promise<void> {
  const session = host.session({ agent: "abuse", level: "yolo" });
  host.servers();
  host.server(name);
  host.logs(name);
  session.tools();
  session.servers();
  session.find(`mcp__${name}__any`);
  const attempts: (() => Promise<unknown>)[] = [
    () => host.reload(),
    () => session.ready(),
    () => session.ready({ servers: [name] }),
    () => session.call(`mcp__${name}__any`, {}),
    () => session.content.resources(),
    () => session.content.resources({ server: name }),
    () => session.content.prompts({ server: name }),
    () => host.connectAll(),
    () => host.connect(name),
    () => host.connect(name, { owner: "abuse" }),
    () => host.reconnect(name),
    () => host.checkConnections(),
    () => host.approvalQuestion(name),
  ];
  // Whatever comes of it: the row looks at what happened outside.
  for (const attempt of attempts) await attempt().catch(() => undefined);
}
