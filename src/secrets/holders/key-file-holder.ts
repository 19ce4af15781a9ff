import { type KeyObject, randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, rm } from "node:fs/promises";
import path from "node:path";

import { findForeignWriter } from "../../config/files/foreign-access.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { Logger } from "../../ports/logger.ts";
import { makeFolder } from "../../ports/make-folder.ts";
import { shellWord } from "../../text/shell-word.ts";
import { fromText, keyBytes, takeKey, toText } from "../seal/envelope.ts";
import { newPlace } from "../seal/key-row.ts";
import { secretError } from "../seal/secret-error.ts";
import type { KeyHolder, NewHeldKey } from "./key-holder.ts";

/** A key and the end of its line; a file that is longer holds something else. */
const maxFileBytes = 100;

/** A random key in a file of the user's own folder, which nobody else can read; the place is its name. */
export class KeyFileHolder implements KeyHolder {
  readonly kind = "file";
  readonly #userFolder: string;
  readonly #logger: Logger;

  constructor(userFolder: string, logger: Logger) {
    this.#userFolder = userFolder;
    this.#logger = logger;
  }

  fileOf(place: string): string {
    return path.join(this.#folder, `${place}.key`);
  }

  async create(): Promise<NewHeldKey> {
    const place = newPlace();
    const file = this.fileOf(place);
    const bytes = randomBytes(keyBytes);
    try {
      await makeFolder(this.#folder, 0o700);
      await this.#checkFolder();
      // A name that nobody has had before: whoever makes a vault at the same moment has a file of their own.
      const handle = await open(file, "wx", 0o600);
      try {
        await handle.writeFile(`${toText(bytes)}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await syncFolder(this.#folder);
      return { kind: this.kind, place, key: takeKey(bytes) };
    } catch (error) {
      throw (error as NodeJS.ErrnoException).syscall === undefined
        ? error
        : cannotMake(file, error);
    } finally {
      bytes.fill(0);
    }
  }

  async open(place: string): Promise<KeyObject> {
    const file = this.fileOf(place);
    await this.#checkFolder();
    const handle = await openWithoutLinks(file);
    try {
      checkFile(file, await handle.stat());
      const content = Buffer.alloc(maxFileBytes);
      const { bytesRead } = await handle.read(content, 0, maxFileBytes, 0);
      const bytes = fromText(content.toString("latin1", 0, bytesRead).trimEnd());
      content.fill(0);
      if (bytes?.length !== keyBytes)
        throw secretError("key-unsafe", `the key file ${file} holds no key`, {
          hint: "restore it from a backup",
          details: { file },
        });
      return takeKey(bytes);
    } finally {
      await handle.close();
    }
  }

  async discard(place: string): Promise<void> {
    const file = this.fileOf(place);
    try {
      await rm(file, { force: true });
      await syncFolder(this.#folder);
    } catch (error) {
      this.#logger.warn("a key file that is not used any more could not be removed", {
        file,
        error: String(error),
      });
    }
  }

  get #folder(): string {
    return path.join(this.#userFolder, "keys");
  }

  /** Refuses a folder in which others could put a key of theirs in the place of ours. */
  async #checkFolder(): Promise<void> {
    const folder = this.#folder;
    const stats = await lstat(folder).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") throw missing(folder, error);
      throw cannotRead(folder, error);
    });
    if (!stats.isDirectory())
      throw unsafe(folder, "is not a folder itself", "put a folder in its place");
    const uid = process.geteuid?.();
    if (uid === undefined) return;
    if (stats.uid !== uid) throw unsafe(folder, "belongs to another user", "run as its owner");
    if ((stats.mode & 0o022) !== 0)
      throw unsafe(folder, "can be written by other users", `chmod 700 ${shellWord(folder)}`);
    const foreign = findForeignWriter([this.#userFolder]);
    if (foreign !== undefined)
      throw unsafe(
        folder,
        `is not safe, because ${foreign.what} ${foreign.place}`,
        foreign.command,
      );
  }
}

/** Opens a file that is no link, without waiting for a writer where it is a pipe. */
async function openWithoutLinks(file: string): Promise<FileHandle> {
  try {
    // Windows has the first flag alone, and an undefined one changes nothing.
    return await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") throw missing(file, error);
    if (code === "ELOOP" || code === "EMLINK")
      throw unsafe(file, "is a link", "put the file itself in its place");
    throw cannotRead(file, error);
  }
}

/** Looks at what was opened, not at what the name leads to by now. */
function checkFile(file: string, stats: Stats): void {
  if (!stats.isFile())
    throw unsafe(file, "is not a plain file", "put the file itself in its place");
  const uid = process.geteuid?.();
  // Windows has no such bits; a file there is as private as its folder.
  if (uid === undefined) return;
  if (stats.uid !== uid) throw unsafe(file, "belongs to another user", "run as its owner");
  if ((stats.mode & 0o077) !== 0)
    throw unsafe(file, "can be used by other users", `chmod 600 ${shellWord(file)}`);
}

function unsafe(place: string, what: string, hint: string): McpError {
  return secretError("key-unsafe", `${place} ${what}, so the key in it is not used`, {
    hint,
    details: { file: place },
  });
}

function missing(place: string, cause: unknown): McpError {
  return secretError("key-missing", `the key of the secrets is missing: there is no ${place}`, {
    hint: `restore ${shellWord(place)} from a backup; without it the stored secrets cannot be read`,
    details: { file: place },
    cause,
  });
}

function cannotRead(place: string, cause: unknown): McpError {
  return secretError("key-missing", `${place} cannot be read (${codeOf(cause)})`, {
    hint: "make it readable for this user alone",
    details: { file: place },
    cause,
  });
}

function cannotMake(file: string, cause: unknown): McpError {
  return secretError("key-missing", `the key file ${file} cannot be made (${codeOf(cause)})`, {
    hint: "make its folder writable for this user, or set PLUGBOARD_SECRET_KEY or PLUGBOARD_PASSPHRASE",
    details: { file },
    cause,
  });
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown reason";
}

/** Makes a name durable, where folders can be synced. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
