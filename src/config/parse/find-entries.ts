import { closest } from "../../text/closest.ts";
import {
  type FieldPath,
  isRecord,
  quoteName,
  type Report,
  type Severity,
} from "../keys/check-value.ts";
import { entrySpellings } from "../keys/config-keys.ts";

/** A raw entry with its name and its place in the source. */
export interface FoundEntry {
  /** Undefined in a list, where the entry itself holds its name. */
  readonly key: string | undefined;
  readonly value: unknown;
  readonly path: FieldPath;
}

/** The object or list that holds the entries of a source. */
export interface Container {
  readonly form: "object" | "list" | "single";
  readonly path: FieldPath;
  readonly value: unknown;
}

const containerKeys = ["mcpServers", "mcp_servers", "servers"] as const;
const topLevelKeys: readonly string[] = ["$schema", "defaults", "inputs", ...containerKeys];

/**
 * Finds the container in use: `mcpServers` unless it is empty and `servers` is not, a bare list, or one
 * entry that holds its own name. Undefined when there is none.
 */
export function findContainer(source: unknown): Container | undefined {
  if (Array.isArray(source)) return { form: "list", path: [], value: source };
  if (!isRecord(source)) return undefined;
  const present = containerKeys.filter((key) => Object.hasOwn(source, key));
  const key = present.find((candidate) => !isEmpty(source[candidate])) ?? present[0];
  if (key !== undefined) {
    const value = source[key];
    return { form: Array.isArray(value) ? "list" : "object", path: [key], value };
  }
  return typeof source["name"] === "string"
    ? { form: "single", path: [], value: source }
    : undefined;
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** Lists the raw entries of any accepted source in the order they are written. */
export function findEntries(
  source: unknown,
  report: Report,
  unknownKeySeverity: Severity,
): readonly FoundEntry[] {
  const container = findContainer(source);
  if (!isRecord(source) && !Array.isArray(source)) {
    report("error", [], "a configuration must be an object or a list");
    return [];
  }
  if (container?.form !== "single" && isRecord(source)) {
    for (const key of Object.keys(source)) {
      const message = topLevelKeyProblem(key, source[key], container);
      if (message !== undefined) report(unknownKeySeverity, [key], message);
    }
  }
  return container === undefined ? [] : listEntries(container, report);
}

function listEntries(container: Container, report: Report): readonly FoundEntry[] {
  const { form, path, value } = container;
  if (form === "single") return [{ key: undefined, value, path }];
  if (Array.isArray(value))
    return value.map((item: unknown, index) => ({
      key: undefined,
      value: item,
      path: [...path, index],
    }));
  if (isRecord(value))
    return Object.entries(value).map(([key, item]) => ({ key, value: item, path: [...path, key] }));
  report("error", path, `${quoteName(path.join("."))} must be an object or a list of servers`);
  return [];
}

function topLevelKeyProblem(
  key: string,
  value: unknown,
  container: Container | undefined,
): string | undefined {
  if (topLevelKeys.includes(key)) {
    const isContainer = (containerKeys as readonly string[]).includes(key);
    const isIgnored = isContainer && key !== container?.path[0] && !isEmpty(value);
    return isIgnored ? `"${key}" is ignored beside "${String(container?.path[0])}"` : undefined;
  }
  const looksLikeServer =
    isRecord(value) && ["command", "url"].some((name) => Object.hasOwn(value, name));
  if (looksLikeServer) return `${quoteName(key)} looks like a server: put it inside "servers"`;
  if (entrySpellings.has(key))
    return `${quoteName(key)} belongs to a server; a file that is one server also needs "name"`;
  const [suggestion] = closest(key, topLevelKeys, 1);
  const hint = suggestion === undefined ? "" : `. Did you mean "${suggestion}"?`;
  return `unknown key ${quoteName(key)}${hint}`;
}
