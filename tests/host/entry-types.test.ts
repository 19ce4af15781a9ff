import { describe, expect, it } from "vitest";

import { connectClient } from "../../src/entries/client.ts";
import { createHost, type HostOptions, type ServerEntry } from "../../src/index.ts";
import { testServerEntry } from "../../src/testing/index.ts";

// Most of this is checked by the compiler: a directive that expects an error where there is none is one.
describe("a server entry in code", () => {
  it("CFG-45: a misspelt key does not compile, wherever an entry is handed over", async () => {
    await using host = await createHost({
      config: false,
      servers: {
        given: {
          ...testServerEntry(),
          // @ts-expect-error -- `enabledTools`
          enabledTool: ["echo"],
        },
      },
    });
    // Without types the key is a warning, and the entry counts as if it were not there.
    const session = host.session({ level: "yolo" });
    await session.ready();
    expect(session.tools().length).toBeGreaterThan(1);

    // @ts-expect-error -- `command`
    await expect(host.add("added", { comand: "node" })).rejects.toMatchObject({
      code: "config_invalid",
    });
    // @ts-expect-error -- `command`
    await expect(host.update("given", { comand: "node" })).rejects.toMatchObject({
      code: "config_invalid",
    });
    // @ts-expect-error -- `url`
    await expect(host.connect({ name: "named", uri: "http://127.0.0.1:9/" })).rejects.toMatchObject(
      { code: "config_invalid" },
    );
    // @ts-expect-error -- `command`
    await expect(connectClient({ name: "direct", comand: "node" })).rejects.toMatchObject({
      code: "config_invalid",
    });
    // @ts-expect-error -- `command`
    const section = () => session.section({ servers: [{ name: "own", comand: "node" }] });
    expect(section).toThrow(expect.objectContaining({ code: "config_invalid" }) as Error);
  });

  it("CFG-45: a wrong value does not compile; names of other hosts and parsed JSON do", () => {
    const options: readonly HostOptions[] = [
      // @ts-expect-error -- a choice
      { servers: { odd: { command: "node", start: "later" } } },
      // @ts-expect-error -- a list of texts
      { servers: { odd: { command: "node", args: [1] } } },
      // @ts-expect-error -- a nested key
      { servers: { odd: { url: "https://h.example", auth: { type: "bearer", tokn: "x" } } } },
      // @ts-expect-error -- a list needs names
      { servers: [{ command: "node" }] },
      { servers: { remote: { type: "http", url: "https://h.example" } } },
      { servers: { remote: { serverUrl: "https://h.example" } } },
      { servers: [{ name: "local", command: ["node", "server.js"], env: { A: "1" } }] },
      { servers: { parsed: JSON.parse('{"command":"node"}') as ServerEntry } },
    ];
    expect(options).toHaveLength(8);
  });
});
