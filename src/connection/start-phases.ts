import type { ServerConfig } from "../config/keys/server-config.ts";
import type { Logger } from "../ports/logger.ts";
import { runHandler } from "../protocol/channel/run-handler.ts";

/** How far the start of a server has come: its process starts, it agrees on a protocol, it lists its tools. */
export type StartPhase = "starting" | "handshake" | "listing";

export type WatchPhase = (phase: StartPhase) => void;

/** The phases of one attempt to start a server, for those who wait for it. */
export class StartPhases {
  readonly #watchers = new Set<WatchPhase>();
  readonly #logger: Logger;
  readonly #serverName: string;
  #phase: StartPhase = "starting";

  constructor({ logger, config }: { readonly logger: Logger; readonly config: ServerConfig }) {
    this.#logger = logger;
    this.#serverName = config.name;
  }

  enter(phase: StartPhase): void {
    // A second try within the same attempt, in another dialect or without the era probe, is no news.
    if (phase === this.#phase) return;
    this.#phase = phase;
    for (const watcher of this.#watchers) this.#tell(watcher);
  }

  /** Calls `watcher` with the present phase and each later one until `wait` settles, and settles as it does. */
  async watchDuring<T>(wait: Promise<T>, watcher: WatchPhase): Promise<T> {
    // The same function may watch twice.
    const own: WatchPhase = (phase) => watcher(phase);
    this.#watchers.add(own);
    this.#tell(own);
    try {
      return await wait;
    } finally {
      this.#watchers.delete(own);
    }
  }

  #tell(watcher: WatchPhase): void {
    runHandler(() => watcher(this.#phase), this.#logger, this.#serverName);
  }
}
