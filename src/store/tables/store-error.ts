import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";

/** What went wrong, as far as a person can do something about it. */
export type StoreProblem =
  | "busy"
  | "read-only"
  | "disk-full"
  | "input-output"
  | "corrupt"
  | "cannot-open"
  | "replaced"
  | "unreachable"
  | "other";

interface ProblemText {
  readonly what: (place: string) => string;
  readonly hint?: string;
  readonly retryable?: boolean;
}

const texts: Readonly<Record<StoreProblem, ProblemText>> = {
  busy: {
    what: (place) => `another process keeps the store ${place} locked; nothing was changed`,
    hint: "run it again; if it stays so, end the program that has the file open",
    retryable: true,
  },
  "read-only": {
    what: (place) => `the store ${place} cannot be written: it, or its folder, is read-only`,
    hint: "give yourself write permission for the file and its folder",
  },
  "disk-full": {
    what: (place) => `the disk that holds the store ${place} is full; nothing was saved`,
    hint: "free some space and try again",
    retryable: true,
  },
  "input-output": {
    what: (place) => `the disk failed while the store ${place} was read or written`,
    hint: "check the disk; what was acknowledged before is not affected",
  },
  corrupt: {
    what: (place) => `the store ${place} is damaged; it was left as it is`,
    hint: "restore it from a backup, or move it away to start with an empty one",
  },
  "cannot-open": {
    what: (place) => `the store ${place} cannot be opened`,
    hint: "check that its folder exists and that you may read and write in it",
  },
  replaced: {
    what: (place) =>
      `the store ${place} was deleted or replaced while it was in use; nothing was saved`,
    hint: "put it back, or restart the program to use what is there now",
  },
  unreachable: {
    what: (place) => `the database ${place} cannot be reached`,
    hint: "check that it runs, its address, and the credentials",
    retryable: true,
  },
  other: { what: (place) => `the store ${place} failed` },
};

/** For a failure after which nobody can tell what became of a change. */
export const lookWhetherSaved = "look whether the change was saved";

export interface StoreErrorOptions {
  readonly cause?: unknown;
  readonly hint?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>>;
}

export function storeError(
  problem: StoreProblem,
  place: string,
  options: StoreErrorOptions = {},
): McpError {
  const { what, hint, retryable } = texts[problem];
  return createError("store_failed", what(place), {
    hint: options.hint ?? hint,
    retryable,
    details: { ...options.details, place, problem },
    cause: options.cause,
  });
}

/** Primary result codes of SQLite. */
const sqliteProblems: Readonly<Record<number, StoreProblem>> = {
  3: "read-only",
  5: "busy",
  6: "busy",
  8: "read-only",
  10: "input-output",
  11: "corrupt",
  13: "disk-full",
  14: "cannot-open",
  26: "corrupt",
};

/** Extended codes that say something else than the primary one in their low byte. */
const extendedProblems: Readonly<Record<number, StoreProblem>> = {
  // The disk works, but the file ends before its own table of contents does.
  522: "corrupt",
  1032: "replaced",
};

export function sqliteProblem(errcode = 0): StoreProblem {
  return extendedProblems[errcode] ?? sqliteProblems[errcode & 0xff] ?? "other";
}

/** The result code of an error that SQLite threw; undefined for any other error. */
export function sqliteCode(error: unknown): number | undefined {
  const code = (error as { readonly errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? code : undefined;
}

export function sqliteError(error: unknown, place: string): McpError {
  const errcode = sqliteCode(error);
  return storeError(sqliteProblem(errcode), place, {
    cause: error,
    details: { sqliteCode: errcode },
  });
}

export function isBusy(error: unknown): boolean {
  return sqliteProblem(sqliteCode(error)) === "busy";
}

export function storeClosed(place: string): McpError {
  return createError("closed", `the store ${place} is closed`);
}
