import type { ServerConfig } from "../../config/keys/server-config.ts";

interface GivenServer {
  readonly config: ServerConfig;
  /** Whether the server stays until it is removed; any other goes when nobody uses it any more. */
  readonly isKept: boolean;
}

/** Servers that the program named while the host runs. They are kept in memory and end with the host. */
export class GivenServers {
  readonly #byName = new Map<string, GivenServer>();

  get configs(): readonly ServerConfig[] {
    return [...this.#byName.values()].map(({ config }) => config);
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  isKept(name: string): boolean {
    return this.#byName.get(name)?.isKept === true;
  }

  /** Adds the server, or replaces the one of its name. */
  put(config: ServerConfig, isKept: boolean): void {
    this.#byName.set(config.name, { config, isKept });
  }

  keep(name: string): void {
    const given = this.#byName.get(name);
    if (given !== undefined) this.put(given.config, true);
  }

  delete(name: string): boolean {
    return this.#byName.delete(name);
  }
}
