import type { Limits } from "../../config/keys/limits.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { Clock } from "../../ports/clock.ts";
import { durationText } from "../../text/duration-text.ts";
import type { JsonObject } from "../../text/json-object.ts";
import type { RequestOptions } from "../protocol-client.ts";

export interface Page<Item, Rejected> {
  readonly items: readonly Item[];
  readonly rejected: readonly Rejected[];
}

export interface PagedList<Item, Rejected> extends Page<Item, Rejected> {
  readonly truncatedBy?: string;
}

export interface PageSource<Item, Rejected> {
  readonly request: (params: JsonObject, options: RequestOptions) => Promise<JsonObject>;
  /** Throws, or rejects, when the page as a whole is unusable. More than `maxEntries` of it need not be looked at. */
  readonly read: (
    result: JsonObject,
    maxEntries: number,
  ) => Page<Item, Rejected> | Promise<Page<Item, Rejected>>;
  readonly limits: Limits;
  readonly clock: Clock;
}

/**
 * Follows `nextCursor` to the end of a list. A cursor is opaque, the empty one included, so it is
 * never judged; what ends a list that never ends are the caps on pages, entries and time. A cap
 * that strikes after the first page keeps what came so far.
 */
export async function collectPages<Item, Rejected>(
  source: PageSource<Item, Rejected>,
  options: RequestOptions = {},
): Promise<PagedList<Item, Rejected>> {
  const { limits, clock } = source;
  const startedAt = clock.monotonic();
  const items: Item[] = [];
  const rejected: Rejected[] = [];
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    const leftMs = limits.listTimeoutMs - (clock.monotonic() - startedAt);
    if (page > 1 && leftMs <= 0) return endedBy(durationText(limits.listTimeoutMs));
    const pageOptions = withinTime(options, leftMs, limits);
    let result: JsonObject;
    try {
      result = await source.request(cursor === undefined ? {} : { cursor }, pageOptions);
    } catch (error) {
      const ranOut = pageOptions.timeoutMs === leftMs && McpError.is(error, "timeout");
      if (page > 1 && ranOut) return endedBy(durationText(limits.listTimeoutMs));
      throw error;
    }
    const room = limits.maxTools - items.length - rejected.length;
    // One more than there is room for shows that there are more.
    const read = await source.read(result, room + 1);
    items.push(...read.items.slice(0, room));
    rejected.push(...read.rejected.slice(0, Math.max(0, room - read.items.length)));
    const next = result["nextCursor"] ?? undefined;
    const hasMore = next !== undefined || read.items.length + read.rejected.length > room;
    if (!hasMore) return { items, rejected };
    if (items.length + rejected.length >= limits.maxTools)
      return endedBy(`${limits.maxTools} entries`);
    if (typeof next !== "string") return endedBy("a cursor that is not a string");
    if (page >= limits.maxPages) return endedBy(`${limits.maxPages} pages`);
    cursor = next;
  }

  function endedBy(truncatedBy: string): PagedList<Item, Rejected> {
    return { items, rejected, truncatedBy };
  }
}

/** A page gets the caller's deadline or what is left for the whole list, whichever ends first. */
function withinTime(options: RequestOptions, leftMs: number, limits: Limits): RequestOptions {
  const asked = options.timeoutMs ?? limits.callTimeoutMs;
  return { ...options, timeoutMs: asked === 0 ? leftMs : Math.min(asked, leftMs) };
}
