/** Where the host reports what is neither a result nor an event; a library user passes their own. */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

const ignore = (): void => {};

export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** A report as text for a person: `files: a line on stdout is no message (line: hello)`. */
export function logText(message: string, fields: Readonly<Record<string, unknown>> = {}): string {
  const { serverName, ...rest } = fields;
  const subject = typeof serverName === "string" ? `${serverName}: ` : "";
  const facts = Object.entries(rest)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
    );
  return `${subject}${message}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
}
