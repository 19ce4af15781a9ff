import { neutralizeLine } from "../text/neutralize.ts";
import { redact } from "../text/redact.ts";
import { truncate } from "../text/truncate.ts";

/** Context that lets a credential be recognised although what is shown ends inside it. */
const lookaheadChars = 400;

/**
 * One line of server output as it may appear in messages and logs: controls first, because they
 * could break up a credential and so hide it from redaction. The work does not grow with the line.
 */
export function sanitizeLine(line: string, maxChars: number, secrets: readonly string[]): string {
  const longestSecret = secrets.reduce((longest, secret) => Math.max(longest, secret.length), 0);
  const head = line.slice(0, maxChars + lookaheadChars + longestSecret);
  return truncate(redact(neutralizeLine(head), secrets), maxChars);
}
