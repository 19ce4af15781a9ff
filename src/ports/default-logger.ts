import { redact } from "../text/secrets/redact.ts";
import { truncate } from "../text/truncate.ts";
import { neutralizeLine } from "../text/untrusted/neutralize.ts";
import { type Logger, logText, silentLogger } from "./logger.ts";

/** Longer lines are cut: a server may have written part of one. */
const maxLineLength = 2_000;

const ignore = (): void => {};

/**
 * Writes warnings and errors to stderr, one line each, for programs that pass no logger of their own.
 * `console` does not fail where stderr has been closed.
 */
const stderrLogger: Logger = {
  debug: ignore,
  info: ignore,
  // oxlint-disable-next-line no-console -- the line is for stderr
  warn: (message, fields) => console.warn(line("warning", message, fields)),
  // oxlint-disable-next-line no-console -- as above
  error: (message, fields) => console.error(line("error", message, fields)),
};

/** The logger that an option stands for: stderr without one, none for `false`. */
export function loggerOf(option: Logger | false | undefined): Logger {
  return option === false ? silentLogger : (option ?? stderrLogger);
}

function line(level: string, ...[message, fields]: Parameters<Logger["warn"]>): string {
  const text = neutralizeLine(redact(logText(message, fields)));
  return `plugboard: ${level}: ${truncate(text, maxLineLength)}`;
}
