import { describe, expect, it } from "vitest";

import { type CallStreamItem, createHost } from "../../src/index.ts";
import { createDemoServer, createMemoryServer } from "../../src/testing/index.ts";

describe("session.stream", () => {
  it("LIM-02: tells progress as it comes and the outcome last", async () => {
    const { transport } = createMemoryServer(createDemoServer());
    await using host = await createHost({ config: false, servers: { demo: transport } });
    const session = host.session({ level: "yolo" });
    const items: CallStreamItem[] = [];
    for await (const item of session.stream("mcp__demo__slow", { steps: 3, delayMs: 1 }))
      items.push(item);
    expect(items.map(({ type }) => type)).toEqual(["progress", "progress", "progress", "outcome"]);
    expect(items.at(-1)).toMatchObject({ outcome: { ok: true, text: "Finished 3 steps." } });
  });

  it("LIM-02: a reader that leaves cancels the call", async () => {
    const { transport } = createMemoryServer(createDemoServer());
    await using host = await createHost({ config: false, servers: { demo: transport } });
    const session = host.session({ level: "yolo" });
    const codes: (string | null)[] = [];
    host.on("call-end", ({ code }) => codes.push(code));
    for await (const { type } of session.stream("mcp__demo__slow", { steps: 2, delayMs: 60_000 }))
      if (type === "progress") break;
    expect(codes).toEqual(["cancelled"]);
  });

  it("a call that fails at once ends the stream with its outcome", async () => {
    await using host = await createHost({ config: false });
    const items: CallStreamItem[] = [];
    for await (const item of host.session({ level: "yolo" }).stream("nope")) items.push(item);
    expect(items).toMatchObject([
      { type: "outcome", outcome: { error: { code: "tool_unknown" } } },
    ]);
  });
});
