import { isJsonObject } from "../../text/json-object.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";

/** One line of the log of a server. Secrets are masked in it, and it is safe to print. */
export interface LogEntry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The process id of the program whose host wrote the entry: several may use a server at once. */
  readonly pid: number;
  /**
   * `stderr`: the process printed it. `message`: the server sent it as a log message of MCP. `host`: the host
   * tells of a start, a failure or an end.
   */
  readonly source: LogSource;
  /** The level of a message as the server named it; `error` for a failure that the host tells of. */
  readonly level?: string;
  readonly text: string;
}

export type LogSource = "stderr" | "message" | "host";

export interface LogQuery {
  /** Only entries from this time on, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Only the last so many; all by default. */
  readonly limit?: number | undefined;
}

export interface FollowOptions extends LogQuery {
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
}

/** The entry as a line of the file: one JSON object, so that no text can look like another line. */
export function formatEntry(entry: LogEntry): string {
  const { at, pid, source, level, text } = entry;
  return `${JSON.stringify({ at, pid, source, level, text })}\n`;
}

/** Undefined for a line that is no entry: one that a killed program left half written, or somebody's own. */
export function parseEntry(line: string): LogEntry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { at, pid, source, level, text } = value;
  if (typeof at !== "number" || typeof pid !== "number" || typeof text !== "string")
    return undefined;
  if (source !== "stderr" && source !== "message" && source !== "host") return undefined;
  return {
    at,
    pid,
    source,
    ...(typeof level === "string" ? { level: neutralizeLine(level) } : {}),
    // The file may have been written by anybody who can write as this user.
    text: neutralizeLine(text),
  };
}
