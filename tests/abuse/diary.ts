import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

export interface DiaryEntry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
}

/** A file in which the processes of a hostile server write down what they do, because they do not last. */
export class Diary {
  /** In a home that is thrown away. */
  readonly file = path.join(homedir(), `abuse-diary-${randomUUID()}`);

  entries(): readonly DiaryEntry[] {
    if (!existsSync(this.file)) return [];
    const lines = readFileSync(this.file, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => {
      const at = line.indexOf(" ");
      return { at: Number(line.slice(0, at)), text: line.slice(at + 1) };
    });
  }

  /** Entries with exactly that text. */
  all(text: string): readonly DiaryEntry[] {
    return this.entries().filter((entry) => entry.text === text);
  }
}
