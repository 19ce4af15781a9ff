import { expect, it } from "vitest";

import { loadOnce } from "./load-once.ts";

it("loads when it is first asked, once, and again after a failure", async () => {
  const outcomes = [new Error("not there"), undefined];
  let loads = 0;
  const load = loadOnce(async () => {
    loads += 1;
    const error = outcomes.shift();
    if (error !== undefined) throw error;
    return await Promise.resolve(loads);
  });
  expect(loads).toBe(0);
  await expect(load()).rejects.toThrow("not there");
  expect(await Promise.all([load(), load()])).toEqual([2, 2]);
  expect(await load()).toBe(2);
});
