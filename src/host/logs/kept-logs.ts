import { loadOnce } from "../../async/load-once.ts";
import type { Clock } from "../../ports/clock.ts";
import type { FollowOptions, LogEntry, LogQuery } from "./log-entry.ts";
import { logFilesOf } from "./log-names.ts";
import type { ServerLogs } from "./server-logs.ts";

/**
 * What servers printed, sent as log messages, and how they started and ended, kept in files beyond the life of a host.
 * Empty for a host that keeps none.
 */
export interface KeptLogs {
  /** The folder of the files; undefined for a host that keeps none. */
  readonly folder: string | undefined;
  /** Servers of which something is kept, also those that are no longer configured. */
  names(): Promise<readonly string[]>;
  /** Entries of one server, whoever wrote them, oldest first. */
  read(name: string, query?: LogQuery): Promise<readonly LogEntry[]>;
  /** The same, and then every further entry when it is written, until `signal` aborts. */
  follow(name: string, options?: FollowOptions): AsyncGenerator<LogEntry, void, undefined>;
}

const loadReader = loadOnce(() => import("./read-log.ts"));
const loadFiles = loadOnce(() => import("./log-files.ts"));

export interface HostLogsOptions {
  /** Undefined for a host that keeps nothing. */
  readonly folder: string | undefined;
  /** The writer of this host, whose lines are written before anything is read. */
  readonly writer: ServerLogs | undefined;
  readonly clock: Clock;
}

/** The logs as a host offers them. What reads files is loaded when somebody asks. */
export class HostLogs implements KeptLogs {
  readonly #options: HostLogsOptions;

  constructor(options: HostLogsOptions) {
    this.#options = options;
  }

  get folder(): string | undefined {
    return this.#options.folder;
  }

  async names(): Promise<readonly string[]> {
    const { folder, writer } = this.#options;
    if (folder === undefined) return [];
    await writer?.flush();
    const { listLogNames } = await loadFiles();
    return await listLogNames(folder);
  }

  async read(name: string, query: LogQuery = {}): Promise<readonly LogEntry[]> {
    const { folder, writer } = this.#options;
    if (folder === undefined) return [];
    await writer?.flush();
    const { readLog } = await loadReader();
    return await readLog(logFilesOf(folder, name), query);
  }

  async *follow(
    name: string,
    options: FollowOptions = {},
  ): AsyncGenerator<LogEntry, void, undefined> {
    const { folder, writer, clock } = this.#options;
    if (folder === undefined) return;
    await writer?.flush();
    const { followLog } = await loadReader();
    yield* followLog(logFilesOf(folder, name), options, clock);
  }
}
