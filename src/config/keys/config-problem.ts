import path from "node:path";

import type { ErrorCode } from "../../errors/error-codes.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { ConfigLayer, Provenance } from "./server-config.ts";

/** A flaw of a file or an entry. An entry with an error is left out; one with a warning works. */
export interface ConfigProblem {
  readonly severity: "error" | "warning";
  readonly code: ErrorCode;
  /** A sentence without place and server name. It never holds a value of the entry. */
  readonly message: string;
  readonly serverName?: string;
  readonly path?: string;
  readonly layer?: ConfigLayer;
  /** The dotted path of the key inside the entry. */
  readonly field?: string;
  readonly line?: number;
  readonly column?: number;
}

interface Place {
  readonly path?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** Writes `path:line:column` as far as it is known; the path is relative when the file lies near `cwd`. */
export function formatPlace(place: Place, cwd?: string): string | undefined {
  if (place.path === undefined) return undefined;
  const parts = [displayPath(place.path, cwd), place.line, place.column];
  return parts.filter((part) => part !== undefined).join(":");
}

function displayPath(file: string, cwd: string | undefined): string {
  if (cwd === undefined) return file;
  const relative = path.relative(cwd, file);
  // Ancestor layers are at most two folders up; a path farther away reads better in full.
  const isFar = relative.split(path.sep, 3).every((part) => part === "..");
  return isFar || path.isAbsolute(relative) ? file : relative;
}

const layerNames: Readonly<Record<ConfigLayer, string>> = {
  code: "code",
  project: "the project",
  ancestor: "a parent folder",
  user: "the user's settings",
  store: "the settings store",
  demo: "the demo servers",
};

/** Names the origin of an entry for a message: its file and line, else its layer. */
export function formatOrigin(provenance: Provenance, cwd?: string): string {
  const { path: file, line, layer } = provenance;
  return formatPlace({ path: file, line }, cwd) ?? layerNames[layer];
}

/**
 * Writes a problem on one line: `.plugboard/mcp.json:12:5 — github: unknown key "comand". Did you mean
 * "command"?`
 */
export function formatProblem(problem: ConfigProblem, cwd?: string): string {
  const place = formatPlace(problem, cwd);
  const server = problem.serverName === undefined ? "" : `${problem.serverName}: `;
  return `${place === undefined ? "" : `${place} — `}${server}${problem.message}`;
}

/** Describes a flaw of an entry that was read, at the place of the entry. */
export function entryProblem(
  { name, provenance }: { readonly name: string; readonly provenance: Provenance },
  flaw: Pick<ConfigProblem, "severity" | "code" | "message" | "field">,
): ConfigProblem {
  const { layer, path: file, line, column } = provenance;
  return {
    ...flaw,
    serverName: name,
    layer,
    ...(file === undefined ? {} : { path: file }),
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  };
}

/** Joins the errors among `problems` into one error to throw, with the place of the first. */
export function problemError(problems: readonly ConfigProblem[]): McpError {
  const errors = problems.filter((problem) => problem.severity === "error");
  const {
    serverName,
    path: file,
    layer,
    field,
    line,
    column,
  }: Partial<ConfigProblem> = errors[0] ?? {};
  const place = formatPlace({ path: file, line, column });
  const text = errors.map((problem) => problem.message).join("; ");
  return createError("config_invalid", place === undefined ? text : `${text} (${place})`, {
    serverName,
    details: { path: file, layer, field, line, column, problems: errors },
  });
}
