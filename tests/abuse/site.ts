import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

import type { SiteReport } from "./hostile/http-site.mjs";
import type {
  HttpAccess,
  HttpKind,
  RunningEntries,
  ServerEntries,
  ServerEntry,
} from "./subject.ts";

export type { SiteReport };

const paths: Readonly<Record<HttpKind, string>> = {
  http: "/mcp",
  "streamable-http": "/mcp",
  "http-post": "/post",
  sse: "/sse",
  rest: "/rest",
};

/** A hostile HTTP server in a process of its own, as a row sees it. */
export class Site implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #port: number;
  #lastQuestion = 0;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.#port = port;
  }

  static async start({ command, args }: ServerEntry): Promise<Site> {
    const child = spawn(command, [...args], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    const started = await Promise.race([once(child, "message"), once(child, "exit")]);
    const [{ port }] = started as [{ port?: number }];
    if (port === undefined) throw new Error(`${args.join(" ")} did not start`);
    return new Site(child, port);
  }

  /** Where it speaks that dialect. */
  url({ transport, host = "127.0.0.1" }: HttpAccess): string {
    return `http://${host}:${this.#port}${paths[transport]}`;
  }

  /** What it has seen so far. */
  report(): Promise<SiteReport> {
    return this.#ask({});
  }

  /** Makes it behave otherwise from now on. */
  async order(order: object): Promise<void> {
    await this.#ask({ order });
  }

  /** The report once it meets `isMet`, or as it is after `limitMs`. */
  async reportWhen(isMet: (report: SiteReport) => boolean, limitMs: number): Promise<SiteReport> {
    const untilMs = performance.now() + limitMs;
    for (;;) {
      const report = await this.report();
      if (isMet(report) || performance.now() > untilMs) return report;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exit;
  }

  async #ask(asked: object): Promise<SiteReport> {
    const question = (this.#lastQuestion += 1);
    const answer = new Promise<SiteReport>((resolve, reject) => {
      const onExit = (): void => reject(new Error("the hostile server has ended"));
      const onMessage = (message: { question?: number; report: SiteReport }): void => {
        if (message.question !== question) return;
        this.#child.off("message", onMessage).off("exit", onExit);
        resolve(message.report);
      };
      this.#child.on("message", onMessage).once("exit", onExit);
    });
    this.#child.send({ question, ...asked });
    return await answer;
  }
}

/** The HTTP servers among the entries of a row, started. */
export class Sites implements AsyncDisposable {
  /** What the subject gets: addresses instead of programs where a server is already running. */
  readonly entries: RunningEntries;
  readonly byName: ReadonlyMap<string, Site>;

  private constructor(entries: ServerEntries, byName: ReadonlyMap<string, Site>) {
    this.byName = byName;
    this.entries = Object.fromEntries(
      Object.entries(entries).map(([name, entry]) => {
        const { http } = entry;
        if (http === undefined) return [name, entry];
        const { transport, headers = {} } = http;
        return [name, { url: byName.get(name)?.url(http) ?? "", transport, headers }];
      }),
    );
  }

  /** Entries for the same program with the same arguments share its process. */
  static async start(entries: ServerEntries): Promise<Sites> {
    const starting = new Map<string, Promise<Site>>();
    const started = await Promise.all(
      Object.entries(entries)
        .filter(([, { http }]) => http !== undefined)
        .map(async ([name, entry]) => {
          const key = JSON.stringify(entry.args);
          const site = starting.get(key) ?? Site.start(entry);
          starting.set(key, site);
          return [name, await site] as const;
        }),
    );
    return new Sites(entries, new Map(started));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const sites = new Set(this.byName.values());
    await Promise.all([...sites].map((site) => site[Symbol.asyncDispose]()));
  }
}
