import { describe, expect, it } from "vitest";

import { ManualClock } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { type Limits, resolveLimits } from "../../config/keys/limits.ts";
import { createError } from "../../errors/families.ts";
import type { JsonObject } from "../../text/json-object.ts";
import type { RequestOptions } from "../protocol-client.ts";
import { collectPages } from "./collect-pages.ts";

interface Asked {
  readonly params: JsonObject;
  readonly options: RequestOptions;
}

/** A server that answers each page with `answer`, and what it was asked. */
function lister(
  answer: (asked: Asked, index: number, clock: ManualClock) => JsonObject | Promise<JsonObject>,
  limits: Partial<Limits> = {},
) {
  const clock = new ManualClock();
  const asked: Asked[] = [];
  const collect = (options?: RequestOptions) =>
    collectPages(
      {
        request: async (params, pageOptions) => {
          asked.push({ params, options: pageOptions });
          return await answer({ params, options: pageOptions }, asked.length - 1, clock);
        },
        read: (result) => ({
          items: result["items"] as string[],
          rejected: (result["rejected"] ?? []) as string[],
        }),
        limits: resolveLimits(limits),
        clock,
      },
      options,
    );
  return { asked, collect, clock };
}

describe("collectPages", () => {
  it("PRO-25: follows cursors to the end, the empty one and repeated ones included", async () => {
    const cursors = ["", "same", "same", undefined];
    const { asked, collect } = lister((_, index) => ({
      items: [`item-${index}`],
      nextCursor: cursors[index],
    }));
    await expect(collect()).resolves.toEqual({
      items: ["item-0", "item-1", "item-2", "item-3"],
      rejected: [],
    });
    expect(asked.map(({ params }) => params)).toEqual([
      {},
      { cursor: "" },
      { cursor: "same" },
      { cursor: "same" },
    ]);
  });

  it("a null cursor is the end; one of another type ends the list and says so", async () => {
    const ended = lister(() => ({ items: ["a"], nextCursor: null }));
    await expect(ended.collect()).resolves.toEqual({ items: ["a"], rejected: [] });
    const odd = lister(() => ({ items: ["a"], nextCursor: 7 }));
    await expect(odd.collect()).resolves.toMatchObject({
      items: ["a"],
      truncatedBy: "a cursor that is not a string",
    });
  });

  it("PRO-25: stops after the most pages allowed and keeps them", async () => {
    const { asked, collect } = lister(() => ({ items: ["a"], nextCursor: "more" }));
    const { items, truncatedBy } = await collect();
    expect([asked.length, items.length, truncatedBy]).toEqual([64, 64, "64 pages"]);
  });

  it("PRO-25: stops at the most entries allowed, rejected ones counted", async () => {
    const big = { items: ["a", "b", "c"], rejected: ["x", "y"], nextCursor: "more" };
    const { asked, collect } = lister(() => big, { maxTools: 7 });
    const { items, rejected, truncatedBy } = await collect();
    expect(items).toEqual(["a", "b", "c", "a", "b"]);
    expect(rejected).toEqual(["x", "y"]);
    expect([asked.length, truncatedBy]).toEqual([2, "7 entries"]);
  });

  it("exactly the most entries without a further page is a complete list", async () => {
    const { collect } = lister(() => ({ items: ["a", "b"] }), { maxTools: 2 });
    await expect(collect()).resolves.toEqual({ items: ["a", "b"], rejected: [] });
  });

  it("a first page that alone is too big is cut", async () => {
    const items = Array.from({ length: 200_000 }, (_, index) => `t${index}`);
    const { collect } = lister(() => ({ items }));
    const list = await collect();
    expect([list.items.length, list.truncatedBy]).toEqual([5_000, "5000 entries"]);
  });

  it("PRO-25: stops when the time for the whole list is over, and keeps what came", async () => {
    const { asked, collect, clock } = lister(async (_, __, time) => {
      await time.advance(11_000);
      return { items: ["a"], nextCursor: "more" };
    });
    const { items, truncatedBy } = await collect({ timeoutMs: 20_000 });
    expect([items.length, truncatedBy]).toEqual([3, "30 s"]);
    expect(asked.map(({ options }) => options.timeoutMs)).toEqual([20_000, 19_000, 8_000]);
    expect(clock.now()).toBe(33_000);
  });

  it("a page that times out because the list's time is over ends the list; another one fails it", async () => {
    const late = () =>
      lister(async ({ options }, index, time) => {
        if (index === 0) return { items: ["a"], nextCursor: "more" };
        await time.advance(options.timeoutMs ?? 0);
        throw createError("timeout", "no answer");
      });
    const none = { timeoutMs: 0 };
    await expect(late().collect(none)).resolves.toMatchObject({ truncatedBy: "30 s" });
    await expect(late().collect({ timeoutMs: 500 })).rejects.toMatchObject({ code: "timeout" });
    const silent = lister(() => Promise.reject(createError("timeout", "no answer")));
    await expect(silent.collect(none)).rejects.toMatchObject({ code: "timeout" });
  });

  it("an error of any page is the caller's", async () => {
    const { collect } = lister((_, index) =>
      index === 0
        ? { items: ["a"], nextCursor: "more" }
        : Promise.reject(createError("connection_lost", "gone")),
    );
    await expect(collect()).rejects.toMatchObject({ code: "connection_lost" });
  });
});
