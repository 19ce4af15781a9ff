import type { ServerStatus } from "../../host/host.ts";
import { describeSchema } from "../../schema/guard/describe-schema.ts";
import { listedValues } from "../../schema/listed-values.ts";
import { isJsonObject } from "../../text/json-object.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";

/** One way to complete the word at the cursor. What ends with `=` or `.` goes on, so no space follows it. */
export interface Candidate {
  /** The whole word, as the program is to receive it. */
  readonly value: string;
  /** A few words about it, for shells that show them; may be empty. */
  readonly says: string;
}

const maxSays = 60;
const maxValue = 200;
/** More tools than this are offered server by server. */
const maxTools = 100;
const maxCandidates = 1_000;

/** Makes a candidate; the words about it may come from a server. */
export function candidate(value: string, says = ""): Candidate {
  return { value, says: boundedLine(says, maxSays) };
}

/**
 * Keeps the candidates that complete `typed`. A name that would not look like what it is, such as one with control
 * characters, is not offered: it came from a server or a project. Where words are quoted, none can look like another.
 */
export function completing(
  candidates: Iterable<Candidate>,
  typed: string,
  { isQuoted = false }: { readonly isQuoted?: boolean | undefined } = {},
): readonly Candidate[] {
  const kept = new Map<string, Candidate>();
  for (const one of candidates) {
    const { value } = one;
    if (!value.startsWith(typed) || value.length > maxValue) continue;
    if (!isQuoted && value !== neutralizeLine(value)) continue;
    kept.set(value, one);
    if (kept.size === maxCandidates) break;
  }
  return [...kept.values()];
}

export function serverCandidates(servers: readonly ServerStatus[]): readonly Candidate[] {
  return servers.map(({ name, target }) => candidate(name, target));
}

/** Every `<server>.<tool>` that is remembered, or the servers alone where that would be too long a list. */
export function toolCandidates(
  servers: readonly ServerStatus[],
  typed: string,
): readonly Candidate[] {
  const fitting = servers.filter(
    ({ name }) => `${name}.`.startsWith(typed) || typed.startsWith(`${name}.`),
  );
  const count = fitting.reduce((sum, { tools }) => sum + tools.length, 0);
  if (fitting.length > 1 && count > maxTools)
    return fitting.map(({ name, target }) => candidate(`${name}.`, target));
  return fitting.flatMap(({ name, tools }) =>
    tools.map((tool) => candidate(`${name}.${tool.name}`, tool.description ?? tool.title)),
  );
}

/** The arguments of a tool that are not typed yet, or the values of the one that is being typed. */
export function argumentCandidates(
  schema: unknown,
  given: readonly string[],
  typed: string,
): readonly Candidate[] {
  const [, key, colon] = /^([^=]+?)(:?)=/s.exec(typed) ?? [];
  if (key !== undefined)
    return listedValues(schema, key).map((value) =>
      candidate(
        `${key}${colon}=${colon === "" && typeof value === "string" ? value : JSON.stringify(value)}`,
      ),
    );
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  if (!isJsonObject(properties)) return [];
  const used = new Set(given.map((word) => /^([^=]+?):?=/s.exec(word)?.[1]));
  return Object.entries(properties)
    .filter(([name]) => !used.has(name) && !/[=]|:$/.test(name))
    .map(([name, declared]) =>
      candidate(`${name}${isDeep(declared) ? ":" : ""}=`, describeSchema(declared)),
    );
}

/** Whether a value is typed as JSON. */
function isDeep(declared: unknown): boolean {
  return isJsonObject(declared) && ["object", "array"].includes(String(declared["type"]));
}
