import { canonicalJson } from "../text/canonical-hash.ts";
import { neutralizeLine } from "../text/neutralize.ts";
import { truncate } from "../text/truncate.ts";
import { placeOf } from "./inspect-definition.ts";

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
  const path: string[] = [];
  const compare = (old: unknown, now: unknown): void => {
    if (changes.length >= maxChanges || old === now) return;
    if (isBranch(old) && isBranch(now) && Array.isArray(old) === Array.isArray(now)) {
      for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
        path.push(key);
        compare(memberOf(old, key), memberOf(now, key));
        path.pop();
      }
      return;
    }
    changes.push({
      path: path.length === 0 ? "definition" : placeOf(path),
      ...(old === undefined ? {} : { before: show(old) }),
      ...(now === undefined ? {} : { after: show(now) }),
    });
  };
  compare(before, after);
  return changes;
}

type Branch = Readonly<Record<string, unknown>>;

function isBranch(value: unknown): value is Branch {
  return typeof value === "object" && value !== null;
}

/** Keys are the server's to choose: one may be called `constructor`. */
function memberOf(branch: Branch, key: string): unknown {
  return Object.hasOwn(branch, key) ? branch[key] : undefined;
}

function show(value: unknown): string {
  return truncate(
    neutralizeLine(typeof value === "string" ? value : canonicalJson(value)),
    maxShownChars,
  );
}
