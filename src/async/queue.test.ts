import { expect, it } from "vitest";

import { createQueue } from "./queue.ts";

it("runs one task after the other, also after one that failed", async () => {
  const inTurn = createQueue();
  const steps: string[] = [];
  const task = (name: string) => async () => {
    steps.push(`${name} begins`);
    await Promise.resolve();
    steps.push(`${name} ends`);
    if (name === "b") throw new Error(name);
    return name;
  };
  const turns = ["a", "b", "c"].map((name) => inTurn(task(name)));
  expect(await Promise.allSettled(turns)).toMatchObject([
    { value: "a" },
    { reason: { message: "b" } },
    { value: "c" },
  ]);
  expect(steps).toEqual(["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]));
});
