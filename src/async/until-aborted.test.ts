import { describe, expect, it } from "vitest";

import { settled } from "../../tests/fixtures/protocol/manual-clock.ts";
import { createError } from "../errors/families.ts";
import { untilCancelled } from "./until-aborted.ts";

const failure = createError("start_exit", "stopped during start");

describe("untilCancelled", () => {
  it("is what the work comes to, as long as nobody aborts", async () => {
    const { signal } = new AbortController();
    expect(await untilCancelled(Promise.resolve(1), signal)).toBe(1);
    await expect(untilCancelled(Promise.reject(failure), signal)).rejects.toBe(failure);
    await expect(untilCancelled(Promise.reject(failure), undefined)).rejects.toBe(failure);
  });

  it.each(["before", "during"])(
    "PRO-22: aborted %s the wait it is cancelled at once, and a failure of the work escapes nowhere",
    async (when) => {
      const escaped: unknown[] = [];
      const onEscape = (reason: unknown): void => void escaped.push(reason);
      process.on("unhandledRejection", onEscape);
      const abort = new AbortController();
      let fail = (_error: Error): void => {};
      const work = new Promise<never>((_resolve, reject) => {
        fail = reject;
      });
      if (when === "before") abort.abort();
      const waiting = untilCancelled(work, abort.signal, "files");
      abort.abort();
      await expect(waiting).rejects.toMatchObject({ code: "cancelled", serverName: "files" });
      fail(failure);
      await settled();
      process.off("unhandledRejection", onEscape);
      expect(escaped).toEqual([]);
    },
  );
});
