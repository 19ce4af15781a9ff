import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

import type { FieldPath } from "../keys/check-value.ts";
import { quoteName } from "../keys/check-value.ts";
import type { ConfigProblem } from "../keys/config-problem.ts";
import type { ConfigLayer } from "../keys/server-config.ts";
import type { Position } from "../parse/parse-entry.ts";
import type { ParseJsoncOptions } from "./jsonc-document.ts";

/** The largest file that is read as a configuration. */
export const maxConfigBytes = 1_024 * 1_024;
/** The most servers of one file. A repository with more can only mean to slow down everybody who opens it. */
export const maxConfigEntries = 1_000;
/** The most keys and values of one file: enough for that many servers, and read without a noticeable delay. */
export const maxConfigValues = 25 * maxConfigEntries;

export type ConfigFile =
  | { readonly status: "missing" }
  /** True when the file exists and cannot be used. */
  | { readonly status: "failed"; readonly problem: ConfigProblem }
  | {
      readonly status: "read";
      readonly value: unknown;
      readonly problems: readonly ConfigProblem[];
      readonly locate: (path: FieldPath) => Position;
    };

export type ConfigText =
  | { readonly status: "missing" }
  | { readonly status: "failed"; readonly reason: string }
  | { readonly status: "read"; readonly text: string };

/** Reads one configuration file (JSON with comments, a byte order mark allowed). Never throws. */
export async function readConfigFile(
  path: string,
  layer: ConfigLayer,
  options: ParseJsoncOptions = {},
): Promise<ConfigFile> {
  const problemAt = (
    severity: ConfigProblem["severity"],
    message: string,
    position?: Position,
  ): ConfigProblem => ({ severity, code: "config_invalid", message, path, layer, ...position });

  const file = readConfigText(path);
  if (file.status === "missing") return file;
  if (file.status === "failed")
    return { status: "failed", problem: problemAt("error", file.reason) };
  // The parser is loaded only for a file that exists, which most folders do not have.
  const { parseJsonc } = await import("./jsonc-document.ts");
  const parsed = parseJsonc(file.text.replace(/^\uFEFF/, ""), options);
  if (!parsed.ok)
    return { status: "failed", problem: problemAt("error", parsed.message, parsed.position) };
  const { value, repeatedKeys, locate } = parsed.document;
  const problems = repeatedKeys.map(({ key, position }) =>
    problemAt("warning", `the key ${quoteName(key)} is repeated; the last one counts`, position),
  );
  return { status: "read", value, problems, locate };
}

/**
 * Reads the text of a configuration file in bounded time and memory, whatever the path leads to. It does so at once: a
 * promise for each step takes ten times as long as the steps, and most of the files that are looked for are not there.
 */
export function readConfigText(path: string, maxBytes: number = maxConfigBytes): ConfigText {
  let descriptor: number;
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    return failure(error);
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return { status: "failed", reason: "is not a regular file" };
    if (stats.size > maxBytes)
      return { status: "failed", reason: `is larger than ${maxBytes / (1_024 * 1_024)} MiB` };
    // The file may grow while it is read.
    const buffer = Buffer.alloc(stats.size + 1);
    let length = 0;
    while (length < buffer.length) {
      const bytesRead = readSync(descriptor, buffer, length, buffer.length - length, null);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length === buffer.length) return { status: "failed", reason: "changed while it was read" };
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return { status: "read", text: decoder.decode(buffer.subarray(0, length)) };
  } catch (error) {
    if (error instanceof TypeError) return { status: "failed", reason: "is not UTF-8 text" };
    return failure(error);
  } finally {
    closeSync(descriptor);
  }
}

function failure(error: unknown): ConfigText {
  const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
  if (code === "ENOENT" || code === "ENOTDIR") return { status: "missing" };
  return { status: "failed", reason: `cannot be read (${code})` };
}
