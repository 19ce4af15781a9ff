import { type Logger, logText } from "../../ports/logger.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { displayPathsIn, type Places } from "./display-path.ts";

/** From chatty to mute; a level also shows everything after it. */
export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export interface StderrLoggerOptions {
  readonly level: LogLevel;
  /** Lines for programs, so that whoever reads stderr as JSON can go on doing so. */
  readonly json: boolean;
  /** Messages that need not be repeated: the command has told them in its own words. */
  readonly told?: ReadonlySet<string> | undefined;
  /** Where the reader stands at that moment. */
  readonly places: () => Places;
}

/** What each line begins with. */
const marks = { debug: "debug ", info: "info  ", warn: "⚠", error: "✗" } as const;

/** What the host reports, one line each on stderr. */
export function createStderrLogger(
  terminal: Terminal,
  { level, json, told, places }: StderrLoggerOptions,
): Logger {
  const threshold = logLevels.indexOf(level);
  const write =
    (name: Exclude<LogLevel, "silent">): Logger["debug"] =>
    (message, fields = {}) => {
      if (logLevels.indexOf(name) < threshold || told?.has(message) === true) return;
      if (json) terminal.jsonError({ log: { level: name, message, ...fields } });
      else {
        const text = displayPathsIn(neutralizeLine(logText(message, fields)), places());
        terminal.note(`${marks[name]} ${text}`);
      }
    };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}
