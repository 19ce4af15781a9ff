import { getMaxListeners, setMaxListeners } from "node:events";

import { describe, expect, it } from "vitest";

import { expectManyListeners } from "./shared-signal.ts";

function listen(signal: AbortSignal, times: number): void {
  for (let count = 0; count < times; count += 1) {
    expectManyListeners(signal);
    signal.addEventListener("abort", () => {});
  }
}

describe("expectManyListeners", () => {
  it("lifts the limit that nobody has set, when there are many", () => {
    const { signal } = new AbortController();
    listen(signal, 2);
    expect(getMaxListeners(signal)).toBe(10);
    listen(signal, 10);
    expect(getMaxListeners(signal)).toBe(Number.POSITIVE_INFINITY);
    listen(signal, 1);
  });

  it("leaves alone what was set on purpose, and signals of other makers", () => {
    const { signal: limited } = new AbortController();
    const { signal: free } = new AbortController();
    setMaxListeners(20, limited);
    setMaxListeners(0, free);
    for (const signal of [limited, free]) listen(signal, 12);
    expect(getMaxListeners(limited)).toBe(20);
    expectManyListeners({} as AbortSignal);
  });
});
