import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";

import { describe, expect, it } from "vitest";

import type { HostEvent } from "../../src/index.ts";
import { makeProject } from "./project.ts";

const listingServer = path.resolve("tests/fixtures/servers/listing-server.mjs");
const program = `
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize")
      send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} },
        serverInfo: { name: "mute", version: "1" } } });
    else if (method === "tools/list") require("node:fs").writeFileSync(process.argv[1], "asked");
    else if (id !== undefined) send({ id, error: { code: -32601, message: "no such method" } });
  });
`;
/** A server that never answers when it is asked for its tools, and says in that file that it was. */
const mute = (file: string) => ({ command: process.execPath, args: ["-e", program, file] });

describe("a server that is defined anew", () => {
  it("PRM-21: what became of the list of the one before it says nothing of the new one", async () => {
    await using project = await makeProject();
    const file = path.join(project.home, "tools.json");
    await writeFile(file, JSON.stringify([{ name: "honest", inputSchema: { type: "object" } }]));
    const listing = { command: process.execPath, args: [listingServer, file] };
    {
      await using before = await project.host();
      await before.add("s", listing);
      await before.connect("s");
    }
    await using host = await project.host();
    const asked = path.join(project.home, "asked");
    await host.update("s", mute(asked));
    const events: HostEvent[] = [];
    host.on("*", (event) => void events.push(event));
    const connecting = host.connect("s").catch((error: unknown) => error);
    while (!existsSync(asked)) await new Promise(setImmediate);
    await host.update("s", listing);
    expect(await connecting).toMatchObject({ code: "closed" });
    expect(events.filter(({ type }) => type === "warning" || type === "tools-changed")).toEqual([]);
    const names = host
      .session({ level: "yolo" })
      .tools()
      .map(({ name }) => name);
    expect(names).toEqual(["mcp__s__honest"]);
    expect(host.server("s")).toMatchObject({ state: "idle", quarantined: [] });
  });
});
