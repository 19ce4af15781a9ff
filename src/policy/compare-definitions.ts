import { canonicalJson } from "../text/canonical-hash.ts";
import { neutralizeLine } from "../text/neutralize.ts";
import { truncate } from "../text/truncate.ts";

/** One place in which two definitions differ; both texts are safe to show. */
export interface DefinitionChange {
  /** `description`, `inputSchema.properties.path.type`, … */
  readonly path: string;
  /** Absent: it was not there before. */
  readonly before?: string;
  /** Absent: it is gone. */
  readonly after?: string;
}

const maxChanges = 100;
const maxShownChars = 2_000;

/** Where two definitions differ, down to the smallest part, in the order in which they are written. */
export function compareDefinitions(before: unknown, after: unknown): readonly DefinitionChange[] {
  const changes: DefinitionChange[] = [];
  const compare = (old: unknown, now: unknown, path: string): void => {
    if (changes.length >= maxChanges || canonicalJson(old) === canonicalJson(now)) return;
    if (isBranch(old) && isBranch(now) && Array.isArray(old) === Array.isArray(now)) {
      const keys = new Set([...Object.keys(old), ...Object.keys(now)]);
      for (const key of keys) compare(old[key], now[key], join(path, key));
      return;
    }
    changes.push({
      path: path === "" ? "definition" : path,
      ...(old === undefined ? {} : { before: show(old) }),
      ...(now === undefined ? {} : { after: show(now) }),
    });
  };
  compare(before, after, "");
  return changes;
}

type Branch = Readonly<Record<string, unknown>>;

function isBranch(value: unknown): value is Branch {
  return typeof value === "object" && value !== null;
}

function join(path: string, key: string): string {
  const place = truncate(neutralizeLine(key), 64);
  return path === "" ? place : `${path}.${place}`;
}

function show(value: unknown): string {
  return truncate(
    neutralizeLine(typeof value === "string" ? value : canonicalJson(value)),
    maxShownChars,
  );
}
