import { describe, expect, it } from "vitest";

import { testServerEntry } from "../../src/testing/index.ts";
import { makeProject } from "./project.ts";
import { anyTool, recordedHost } from "./recorded-host.ts";

describe("a host that is closed", () => {
  it("decision 13: promises to keep nothing that it does not keep", async () => {
    await using project = await makeProject();
    await project.write(testServerEntry());
    const host = await project.host();
    await host.add("own", testServerEntry());
    await host.connect("own");
    await host.close();
    for (const promise of [
      () => host.approve("project"),
      () => host.grants.allow({ agent: "a", server: "own", tool: "echo" }),
      () => host.grants.revoke({ agent: "a" }),
      () => host.add("other", testServerEntry()),
      () => host.update("own", testServerEntry()),
      () => host.disable("own"),
      () => host.remove("own"),
    ])
      await expect(promise(), String(promise)).rejects.toMatchObject({ code: "closed" });
    await using next = await project.host();
    expect(next.grants.list()).toEqual([]);
    expect(next.servers().map(({ name, state }) => [name, state])).toEqual([
      ["project", "pending"],
      ["own", "idle"],
    ]);
  });

  it("decision 13: also when it keeps nothing, what it is told after its end is refused", async () => {
    const { host } = await recordedHost({ tools: [anyTool] });
    await host.connect("fake");
    await host.close();
    await expect(
      host.grants.allow({ agent: "a", server: "fake", tool: "any" }),
    ).rejects.toMatchObject({ code: "closed" });
  });

  it("decision 13: what was allowed while it closed is kept or refused", async () => {
    await using project = await makeProject();
    const host = await project.host();
    await host.add("own", testServerEntry());
    await host.connect("own");
    const closing = host.close();
    const agents = Array.from({ length: 60 }, (_, index) => `agent ${index}`);
    const allowed: string[] = [];
    const refusals: unknown[] = [];
    const asked: Promise<unknown>[] = [];
    let isClosed = false;
    void closing.then(() => {
      isClosed = true;
    });
    for (const agent of agents) {
      const allowing = host.grants.allow({ agent, server: "own", tool: "echo" });
      asked.push(
        allowing.then(
          () => allowed.push(agent),
          (error: unknown) => refusals.push(error),
        ),
      );
      if (!isClosed) await new Promise(setImmediate);
    }
    await Promise.all([closing, ...asked]);
    for (const refusal of refusals) expect(refusal).toMatchObject({ code: "closed" });
    await using next = await project.host();
    // Those of one millisecond are listed by name.
    const kept = next.grants.list().map(({ agent }) => agent);
    expect(kept.toSorted()).toEqual(allowed.toSorted());
  });
});
