import { describe, expect, it } from "vitest";

import { createHost, type HostOptions, type Naming } from "../../src/index.ts";
import { createMemoryServer, createRecordedServer } from "../../src/testing/index.ts";
import { legacyScripts, ScriptedPeer } from "../fixtures/protocol/scripted-peer.ts";
import { deferred } from "./deferred.ts";

const broken = { command: "no-such-command" };
const dashed: Naming = (server, tool) => `${server}-${tool}`;

/** A server with these tools, each of which answers with its own name. */
function serverOf(...tools: readonly string[]) {
  const factory = createRecordedServer({
    tools: tools.map((name) => ({ name, inputSchema: { type: "object" } })),
    answers: ({ name }) => ({ content: [{ type: "text", text: name }] }),
  });
  return () => createMemoryServer(factory).transport;
}

async function callFirst(name: string, options: HostOptions) {
  await using host = await createHost({ config: false, ...options });
  return await host.session({ level: "yolo" }).call(name);
}

describe("the first call of a name that is not known yet", () => {
  it("a server that cannot start does not hide the tools of others", async () => {
    expect(
      await callFirst("good-echo", { naming: dashed, servers: { broken, good: serverOf("echo") } }),
    ).toMatchObject({ ok: true, text: "echo" });
    expect(
      await callFirst("mcp_git_hub_echo", {
        naming: "mcp_server_tool",
        servers: { git: broken, git_hub: serverOf("echo") },
      }),
    ).toMatchObject({ ok: true, text: "echo" });
    expect(
      await callFirst("good-echo", {
        naming: dashed,
        servers: { off: { ...broken, enabled: false }, good: serverOf("echo") },
      }),
    ).toMatchObject({ ok: true, text: "echo" });
  });

  it("what keeps a candidate from being asked is told when no other has the name", async () => {
    const servers = { good: serverOf("echo"), broken };
    expect(await callFirst("broken-echo", { naming: dashed, servers })).toMatchObject({
      ok: false,
      error: { code: "command_not_found" },
    });
    expect(await callFirst("mcp__good__ecco", { servers })).toMatchObject({
      error: { code: "tool_unknown", details: { suggestions: ["mcp__good__echo"] } },
    });
  });

  it("starts all that may own it at the same time", async () => {
    const started: string[] = [];
    const both = deferred();
    const waiting = (name: string) => () => {
      const peer = new ScriptedPeer({
        ...legacyScripts,
        "tools/list": () => ({ tools: [{ name: "echo", inputSchema: { type: "object" } }] }),
        "tools/call": () => ({ content: [] }),
      });
      peer.transport.startWith = async () => {
        started.push(name);
        if (started.length === 2) both.resolve();
        await both.promise;
      };
      return peer.transport;
    };
    const servers = { one: waiting("one"), two: waiting("two") };
    expect(await callFirst("two-echo", { naming: dashed, servers })).toMatchObject({ ok: true });
    expect(started).toEqual(["one", "two"]);
  });

  it("NAM-15: a name that two of them would have is nobody's, whoever was there first", async () => {
    const servers = { git: serverOf("hub_echo"), git_hub: serverOf("echo") };
    expect(
      await callFirst("mcp_git_hub_echo", { naming: "mcp_server_tool", servers }),
    ).toMatchObject({ ok: false, error: { code: "tool_unknown" } });
  });
});
