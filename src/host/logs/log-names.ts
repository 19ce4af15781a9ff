import { createHash } from "node:crypto";
import path from "node:path";

/** File systems take names of 255 bytes; a longer name keeps its beginning and gets a hash. */
const maxEncodedChars = 180;
const keptChars = 120;

const harmlessByte = /[a-z0-9_-]/;
/** Names that Windows gives to devices, whatever comes behind their dot. */
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * The file name, without its ending, of the log of a server. Every byte that is no lower-case letter, digit, `_` or
 * `-` is written as `%` and its number: so no name leads out of the folder, and names that differ only in case or
 * composition have different files wherever file systems make them equal.
 */
export function encodeLogName(serverName: string): string {
  const encoded = Array.from(Buffer.from(serverName), (byte, index) => {
    const character = String.fromCharCode(byte);
    const isPlain = harmlessByte.test(character) && !(index === 0 && deviceName.test(serverName));
    return isPlain ? character : `%${byte.toString(16).padStart(2, "0")}`;
  }).join("");
  if (encoded.length <= maxEncodedChars) return encoded;
  const hash = createHash("sha256").update(serverName).digest("hex").slice(0, 32);
  return `${encoded.slice(0, keptChars)}~${hash}`;
}

/** The server that a file name stands for; undefined for a shortened one, and for what is no such name. */
function decodeLogName(encoded: string): string | undefined {
  if (!/^(?:[a-z0-9_-]|%[0-9a-f]{2})+$/.test(encoded)) return undefined;
  const bytes = encoded.replace(/%(..)/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const name = Buffer.from(bytes, "latin1").toString("utf8");
  return encodeLogName(name) === encoded ? name : undefined;
}

const ending = ".log";
/** The ending of the file before the current one. */
const olderEnding = ".log.1";

/** The files with the log of one server: the one that grows, and the one before it. */
export function logFilesOf(
  folder: string,
  serverName: string,
): { readonly current: string; readonly older: string } {
  const base = path.join(folder, encodeLogName(serverName));
  return { current: `${base}${ending}`, older: `${base}${olderEnding}` };
}

export function isLogFile(file: string): boolean {
  return file.endsWith(ending) || file.endsWith(olderEnding);
}

/** The server whose log a file of the folder is; undefined where the name does not tell. */
export function serverOfLogFile(file: string): string | undefined {
  return isLogFile(file) ? decodeLogName(file.slice(0, file.indexOf("."))) : undefined;
}
