import type { Logger } from "../ports/logger.ts";
import { neutralizeLine } from "../text/neutralize.ts";
import type { Terminal } from "./terminal.ts";

/** From chatty to mute; a level also shows everything after it. */
export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** What the host reports, one line each on stderr. */
export function createStderrLogger(terminal: Terminal, level: LogLevel): Logger {
  const threshold = logLevels.indexOf(level);
  const write =
    (name: Exclude<LogLevel, "silent">): Logger["debug"] =>
    (message, fields) => {
      if (logLevels.indexOf(name) < threshold) return;
      const data = fields === undefined ? "" : `  ${JSON.stringify(fields)}`;
      terminal.note(`${name.padEnd(5)}  ${neutralizeLine(`${message}${data}`)}`);
    };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}
