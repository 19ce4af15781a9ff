import { describe, expect, it } from "vitest";

import { createHost } from "../../src/index.ts";
import { testServerEntry } from "../../src/testing/index.ts";
import { entering } from "./entering.ts";
import { makeProject } from "./project.ts";

const eager = { ...testServerEntry(), start: "eager" } as const;

describe('"start": "eager"', () => {
  it("STO-07: is started with the host, which does not wait for it; others are not", async () => {
    const servers = {
      eager,
      lazy: testServerEntry(),
      broken: { command: "no-such-command-at-all", start: "eager" },
    } as const;
    await using host = await createHost({ config: false, servers });
    expect(host.server("eager").state).toBe("connecting");
    await entering(host, "connected");
    expect(host.server("eager").state).toBe("connected");
    expect(host.server("lazy").state).toBe("idle");
    expect(host.server("broken").lastError).toMatchObject({ code: "command_not_found" });
  });

  it("is not for programs that only look", async () => {
    await using host = await createHost({ config: false, servers: { eager }, startEager: false });
    expect(host.server("eager").state).toBe("idle");
  });

  it("decision 5: waits for approval, and counts for what is configured later", async () => {
    await using project = await makeProject();
    await project.write(eager);
    await using host = await project.host();
    expect(host.server("project")).toMatchObject({ state: "pending", pid: undefined });
    const approved = entering(host, "connected");
    await host.approve("project");
    await approved;
    const added = entering(host, "connected");
    await host.add("second", eager);
    await added;
    expect(host.server("second").state).toBe("connected");
  });
});
