import { loadOnce } from "../../async/load-once.ts";
import { createQueue } from "../../async/queue.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { Clock, Timer } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import { TokenBucket } from "../../protocol/channel/token-bucket.ts";
import type { OmittedOutput, ProcessOutput } from "../../transport/host-transport.ts";
import { formatEntry, type LogEntry } from "./log-entry.ts";
import type { LogFiles } from "./log-files.ts";
import { logFilesOf } from "./log-names.ts";

/** Lines are written so much later, together: servers that start now have the processor for themselves. */
const writeDelayMs = 1_000;
/** The end of a host waits no longer than this for a disk that does not answer. */
const closeTimeoutMs = 1_000;
/** What may wait for the disk; further lines are left out and counted. */
const maxPendingBytes = 256 * 1_024;
/** Room for the line at the end that says how many were left out: it must not make a file larger than it may be. */
const omissionBytes = 200;
const messagesPerSecond = 50;
const messageBurst = 1_000;

export interface ServerLogsOptions {
  readonly folder: string;
  /** The most that is kept of one server, in two files. */
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Writes the logs of a host's servers, behind everything else: lines are collected and written about once a second,
 * and nothing waits for it. Nothing is opened before the first line. A disk that cannot be written costs the lines
 * and one warning.
 */
export class ServerLogs {
  readonly #options: ServerLogsOptions;
  readonly #logs = new Map<string, ServerLog>();
  readonly #inTurn = createQueue();
  readonly #maxFileBytes: number;
  readonly #loadFiles: () => Promise<LogFiles>;
  #timer: Timer | undefined;
  #hasWarned = false;

  constructor(options: ServerLogsOptions) {
    const { folder, maxBytes, clock } = options;
    this.#options = options;
    this.#maxFileBytes = Math.floor(maxBytes / 2);
    this.#loadFiles = loadOnce(async () => {
      const { LogFiles } = await import("./log-files.ts");
      return new LogFiles({ folder, maxFileBytes: this.#maxFileBytes, now: () => clock.now() });
    });
  }

  /** The log of one server, for all its connections. */
  of(serverName: string): ServerLog {
    const known = this.#logs.get(serverName);
    if (known !== undefined) return known;
    const { clock, folder } = this.#options;
    const log = new ServerLog({
      file: logFilesOf(folder, serverName).current,
      clock,
      maxPendingBytes: Math.min(maxPendingBytes, this.#maxFileBytes),
      onLine: () => {
        this.#timer ??= clock.schedule(writeDelayMs, () => void this.flush());
      },
    });
    this.#logs.set(serverName, log);
    return log;
  }

  /** Writes the lines that wait. Never rejects. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    return this.#inTurn(async () => {
      for (const [serverName, log] of this.#logs) await this.#write(serverName, log.take());
    });
  }

  /** Writes the lines that wait, unless the disk takes too long. */
  async close(): Promise<void> {
    const { clock } = this.#options;
    let timer: Timer | undefined;
    const tooLong = new Promise<void>((resolve) => {
      timer = clock.schedule(closeTimeoutMs, resolve);
    });
    await Promise.race([this.flush(), tooLong]);
    timer?.cancel();
  }

  async #write(serverName: string, lines: string): Promise<void> {
    if (lines === "") return;
    const { folder, logger } = this.#options;
    try {
      const files = await this.#loadFiles();
      await files.append(serverName, lines);
    } catch (error) {
      if (this.#hasWarned) return;
      this.#hasWarned = true;
      logger.warn("the logs of servers cannot be kept", { error: reasonOf(error, folder) });
    }
  }
}

function reasonOf(error: unknown, folder: string): string {
  if (McpError.is(error)) return error.message;
  return `${folder}: ${(error as NodeJS.ErrnoException).code ?? String(error)}`;
}

export interface ServerLogOptions {
  readonly file: string;
  readonly clock: Clock;
  readonly maxPendingBytes: number;
  /** Called when there is something to write. */
  readonly onLine: () => void;
}

/** Collects the lines of one server. Callers mask secrets: this only bounds how much is kept. */
export class ServerLog implements ProcessOutput {
  readonly file: string;
  readonly #options: ServerLogOptions;
  readonly #messages: TokenBucket;
  #pending: string[] = [];
  #pendingBytes = 0;
  #omittedMessages = 0;
  /** Lines that came while too many waited for the disk. */
  #omittedLines = 0;

  constructor(options: ServerLogOptions) {
    const { file, clock } = options;
    this.file = file;
    this.#options = options;
    this.#messages = new TokenBucket({
      perSecond: messagesPerSecond,
      burst: messageBurst,
      clock,
    });
  }

  /** Lines of the process; `omitted` was printed before them and is not among them. */
  printed(lines: readonly string[], { lines: count, bytes }: OmittedOutput): void {
    if (count > 0 || bytes > 0) this.#add({ source: "host", text: omittedText(count, bytes) });
    for (const text of lines) this.#add({ source: "stderr", text });
  }

  /** A process that was asked to end has ended. */
  stopped({ exitCode, signal }: Parameters<ProcessOutput["stopped"]>[0]): void {
    const how = signal === null ? `exit code ${exitCode}` : `signal ${signal}`;
    this.tell(exitCode === null && signal === null ? "stopped" : `stopped (${how})`);
  }

  /** A log message of MCP. A server that sends very many of them has some left out. */
  message(level: string, text: string): void {
    if (!this.#messages.take()) {
      this.#omittedMessages += 1;
      return;
    }
    this.#tellOmitted();
    this.#add({ source: "message", level, text });
  }

  /** Tells of the life of the server. */
  tell(text: string, level?: "error"): void {
    this.#add({ source: "host", text, ...(level === undefined ? {} : { level }) });
  }

  /** The lines that wait, to be written now. */
  take(): string {
    this.#tellOmitted();
    const lines = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (this.#omittedLines > 0) {
      const text = omittedText(this.#omittedLines, 0);
      this.#omittedLines = 0;
      lines.push(this.#format({ source: "host", text }));
    }
    return lines.join("");
  }

  #tellOmitted(): void {
    if (this.#omittedMessages === 0) return;
    const text = `left out: ${counted(this.#omittedMessages, "message")}`;
    this.#omittedMessages = 0;
    this.#add({ source: "host", text });
  }

  #add(entry: Pick<LogEntry, "source" | "level" | "text">): void {
    const line = this.#format(entry);
    const bytes = Buffer.byteLength(line);
    if (this.#pendingBytes + bytes + omissionBytes > this.#options.maxPendingBytes) {
      this.#omittedLines += 1;
      return;
    }
    this.#pending.push(line);
    this.#pendingBytes += bytes;
    this.#options.onLine();
  }

  #format(entry: Pick<LogEntry, "source" | "level" | "text">): string {
    return formatEntry({ at: this.#options.clock.now(), pid: process.pid, ...entry });
  }
}

function omittedText(lines: number, bytes: number): string {
  const parts = [
    ...(lines > 0 ? [counted(lines, "line")] : []),
    ...(bytes > 0 ? [`${(bytes / 1_000_000).toFixed(1)} MB that came too fast`] : []),
  ];
  return `left out: ${parts.join(" and ")}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
