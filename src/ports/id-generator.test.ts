import { describe, expect, it } from "vitest";

import { createIdGenerator } from "./id-generator.ts";

describe("createIdGenerator", () => {
  it("counts in decimal behind a part that no other generator has", () => {
    const createId = createIdGenerator();
    const ids = Array.from({ length: 2_001 }, () => createId());
    const first = ids[0] as string;
    const head = first.slice(0, -1);
    expect(head).toMatch(/^[\w-]{12}-$/);
    expect(ids).toEqual(ids.map((_, index) => head + String(index + 1)));
    expect(createIdGenerator()()).not.toBe(first);
  });
});
