import { describe, expect, it } from "vitest";

import { aiSdkTools } from "../../src/adapters/index.ts";
import {
  CapabilitySet,
  createHost,
  type McpHost,
  McpConnectionPool,
  type Session,
} from "../../src/index.ts";
import { createTestServer, serveHttp } from "../../src/testing/index.ts";
import { scriptedHuman } from "../fixtures/agent/scripted-human.ts";
import { recordRequests } from "../fixtures/http/recording-proxy.ts";
import type { ScriptedServer } from "../fixtures/http/scripted-server.ts";

const name = "mcp__web__add";
const args = { a: 1, b: 2 };

interface Scene extends AsyncDisposable {
  readonly host: McpHost;
  /** Calls that reached the server. */
  calls(): readonly ScriptedServer["requests"][number][];
}

/** A host whose server `web` has the tools `echo`, `get_time` and `add`, and this filter. */
async function scene(filter: object): Promise<Scene> {
  const server = await serveHttp(createTestServer());
  const wire = await recordRequests(server.url);
  const host = await createHost({ config: false, store: ":memory:" });
  await host.add("web", { url: wire.url, transport: "streamable-http", ...filter });
  return {
    host,
    calls: () => wire.posts("tools/call"),
    async [Symbol.asyncDispose]() {
      await host.close();
      await wire[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

/** Every way to a tool, whatever it ends in. */
async function tryToCall(session: Session): Promise<readonly unknown[]> {
  const tool = session.find(name);
  session.defineTool({
    name: "use_add",
    description: "Calls the tool on behalf of its session",
    inputSchema: { type: "object" },
    async handler(_params, { context }) {
      const pooled = context.resources.get(McpConnectionPool)?.get("web");
      const outcomes = [await context.call(name, args), await pooled?.callTool("add", args)];
      return outcomes.map((outcome) => outcome?.ok);
    },
  });
  const { structured } = await session.call("use_add");
  expect(structured).toEqual([false, false]);
  expect([tool, (await aiSdkTools(session))[name]]).toEqual([undefined, undefined]);
  return [
    await session.call(name, args),
    await session.dispatch({ name, input: args }),
    await session.child().call(name, args),
    (await session.transaction((it) => it.call(name, args))).value,
    await session.execute(name, args).catch((error: unknown) => ({ ok: false, error })),
  ];
}

describe("the lists of allowed and blocked tools", () => {
  it.each([
    ["is not in the list of allowed ones", { enabledTools: ["echo"] }],
    ["is in the list of blocked ones", { disabledTools: ["add"] }],
    ["is in both", { enabledTools: ["echo", "add"], disabledTools: ["add"] }],
  ])(
    "PRM-15 DSC-12: a tool that %s is refused to everyone on every way, and nothing is sent",
    async (_name, filter) => {
      await using it = await scene(filter);
      const capabilities = new CapabilitySet([{ resource: "mcp:web:add", action: "execute" }]);
      const { human, questions } = scriptedHuman("server-always");
      await it.host.connect("web", { mode: "allow-all" });
      // Nobody can allow it for good either.
      await expect(
        it.host.grants.allow({ agent: "granted", server: "web", tool: "add" }),
      ).rejects.toMatchObject({ code: "tool_unknown" });
      for (const options of [
        { agent: "free", level: "yolo" as const },
        { agent: "capable", capabilities },
        { agent: "granted", level: "trusted" as const, human },
      ]) {
        const session = it.host.session(options);
        for (const outcome of await tryToCall(session))
          expect(outcome).toMatchObject({ ok: false, error: { code: "tool_unknown" } });
        const { verdict, steps } = session.why("web.add");
        expect(verdict).toBe("denied");
        expect(steps.filter(({ passes }) => !passes).map(({ rule }) => rule)).toContain("filter");
      }
      expect(it.calls()).toEqual([]);
      expect(questions).toEqual([]);
    },
  );

  it("PRM-15 PRM-20: one that is blocked later is refused to whoever still holds it", async () => {
    await using it = await scene({});
    const session = it.host.session({ level: "yolo" });
    await session.ready();
    const held = session.find(name);
    expect(await held?.execute(args)).toMatchObject({ ok: true, text: "3" });
    const { url } = it.host.server("web").config.transport as { readonly url: string };
    await it.host.update("web", { url, transport: "streamable-http", disabledTools: ["add"] });
    expect(await held?.execute(args)).toMatchObject({ ok: false, error: { code: "tool_unknown" } });
    expect(it.calls()).toHaveLength(1);
  });
});
