import { createError } from "../errors/families.ts";
import { invalidParams } from "./invalid-params.ts";

export interface ServedPage<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

/** Cuts lists into pages of `pageSize`, or leaves them whole without one. Cursors are offsets. */
export function createPager(
  pageSize: number | undefined,
): <T>(items: readonly T[], cursor: string | undefined) => ServedPage<T> {
  if (pageSize !== undefined && !(Number.isInteger(pageSize) && pageSize >= 1))
    throw createError("config_invalid", "The page size must be a whole number of at least 1.");
  return (items, cursor) => {
    const start = cursor === undefined ? 0 : Number(cursor);
    if (cursor !== undefined && !(Number.isInteger(start) && start > 0 && start < items.length))
      throw invalidParams("Unknown cursor");
    const end = start + (pageSize ?? items.length);
    return {
      items: items.slice(start, end),
      ...(end < items.length && { nextCursor: String(end) }),
    };
  };
}
