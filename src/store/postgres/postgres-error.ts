import type { McpError } from "../../errors/mcp-error.ts";
import { lookWhetherSaved, type StoreProblem, storeError } from "../tables/store-error.ts";

/** By SQLSTATE, or its class: the first two characters. */
const problems: Readonly<Record<string, StoreProblem>> = {
  "25006": "read-only",
  "53100": "disk-full",
  "55P03": "busy",
  "57014": "busy",
  "40001": "busy",
  "40P01": "busy",
  "42501": "read-only",
  "08": "unreachable",
  "28": "unreachable",
  "3D": "unreachable",
  "53": "unreachable",
  "57": "unreachable",
  "58": "input-output",
  XX: "corrupt",
};

export function postgresError(error: unknown, place: string): McpError {
  const code = codeOf(error);
  const known = problems[code] ?? problems[code.slice(0, 2)];
  const problem = known ?? (isWithoutAnswer(error) ? "unreachable" : "other");
  return storeError(problem, place, { cause: error, details: { sqlState: code } });
}

/** Whether the database said nothing: codes of the network have letters only, and some failures none. */
export function isWithoutAnswer(error: unknown): boolean {
  return /^(?:E[A-Z]+)?$/.test(codeOf(error));
}

/** The connection was lost between the wish to save and the word that it was done. */
export function commitUnknown(error: unknown, place: string): McpError {
  return storeError("unreachable", place, {
    cause: error,
    hint: lookWhetherSaved,
    details: { sqlState: codeOf(error) },
  });
}

/** Whether the same transaction may well succeed at once. */
export function isTransient(error: unknown): boolean {
  return ["40001", "40P01"].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}
