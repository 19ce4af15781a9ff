import { appendFile, chmod, mkdir, open } from "node:fs/promises";
import path from "node:path";

import { createQueue } from "../../async/queue.ts";
import { writeFileAtomic } from "../../config/files/write-file-atomic.ts";
import { redact } from "../../text/secrets/redact.ts";
import { neutralize } from "../../text/untrusted/neutralize.ts";

const maxLines = 1_000;
/** A line that is longer is not worth typing again. */
const maxLineChars = 4_000;
const maxFileBytes = 1_024 * 1_024;
const fileName = "repl-history";

/**
 * The lines that were typed, newest first, beyond the life of a REPL. What looks like a secret in one is masked before
 * it is kept anywhere.
 */
export class LineHistory {
  readonly maxLines = maxLines;
  readonly #file: string | undefined;
  readonly #inTurn = createQueue();
  #lines: readonly string[];

  /** Without a file nothing outlives the REPL. */
  constructor(file: string | undefined, lines: readonly string[] = []) {
    this.#file = file;
    this.#lines = lines;
  }

  /** The history in the user's folder; one that cannot be read is an empty one. */
  static async load(folder: string): Promise<LineHistory> {
    const file = path.join(folder, fileName);
    try {
      const lines = (await readLines(file)).slice(-maxLines);
      return new LineHistory(file, lines.toReversed());
    } catch {
      return new LineHistory(file);
    }
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  add(typed: string): void {
    const line = redact(typed.trim());
    if (line === "" || line.length > maxLineChars || line === this.#lines[0]) return;
    this.#lines = [line, ...this.#lines].slice(0, maxLines);
    void this.#inTurn(() => this.#append(line));
  }

  /** Waits until all of it is written, and cuts a file that has become too long. */
  async close(): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#file === undefined) return;
      try {
        const lines = await readLines(this.#file);
        if (lines.length <= 2 * maxLines) return;
        await writeFileAtomic(this.#file, toText(lines.slice(-maxLines)), { mode: 0o600 });
      } catch {
        // What cannot be read is not made shorter, either.
      }
    });
  }

  async #append(line: string): Promise<void> {
    if (this.#file === undefined) return;
    try {
      await mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 });
      await appendFile(this.#file, toText([line]), { mode: 0o600 });
      await chmod(this.#file, 0o600);
    } catch {
      // A history that cannot be kept is no reason to stop.
    }
  }
}

/** One JSON text each: a line that was pasted may hold newlines. */
function toText(lines: readonly string[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

async function readLines(file: string): Promise<readonly string[]> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - maxFileBytes);
    const { buffer, bytesRead } = await handle.read({
      buffer: Buffer.alloc(size - from),
      position: from,
    });
    return buffer.toString("utf8", 0, bytesRead).split("\n").flatMap(readEntry);
  } finally {
    await handle.close();
  }
}

function readEntry(text: string): readonly string[] {
  try {
    const line: unknown = JSON.parse(text);
    // Whoever wrote to the file, nothing in it plays with the screen.
    return typeof line === "string" ? [neutralize(line)] : [];
  } catch {
    return [];
  }
}
