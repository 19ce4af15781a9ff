import { redact } from "../../text/secrets/redact.ts";
import { truncate } from "../../text/truncate.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";

/** As much of a credential of unknown value as it takes to recognise its shape. */
const shapeChars = 400;

/**
 * One line of server output as it may appear in messages and logs. Controls go first, because they
 * could break up a credential and so hide it from redaction. The work does not grow with the line.
 */
export function sanitizeLine(line: string, maxChars: number, secrets: readonly string[]): string {
  const longestSecret = secrets.reduce((longest, secret) => Math.max(longest, secret.length), 0);
  const marginChars = shapeChars + longestSecret;
  const head = line.slice(0, maxChars + marginChars);
  const safe = redact(neutralizeLine(head), secrets);
  // Where the line was cut, the last characters may be the half of a secret.
  const shown = head === line ? safe : `${safe.slice(0, -marginChars)}…`;
  return truncate(shown, maxChars);
}
