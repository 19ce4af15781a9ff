import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";

import { createWire } from "../../../tests/fixtures/http/wire.ts";
import {
  connectScripted,
  failureOf,
  type ScriptedOptions,
} from "../../../tests/fixtures/protocol/connect-scripted.ts";
import { implementations } from "../../../tests/fixtures/protocol/implementations.ts";
import { settled } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { protocolOptions } from "../../../tests/fixtures/protocol/protocol-options.ts";
import type { Script } from "../../../tests/fixtures/protocol/scripted-peer.ts";
import { systemClock } from "../../ports/clock.ts";
import { serveHttp } from "../../testing/index.ts";
import type { JsonObject } from "../../text/json-object.ts";

const regionSchema = {
  type: "object",
  properties: {
    region: { type: "string", "x-mcp-header": "Region" },
    count: { type: "integer", "x-mcp-header": "Count" },
    dry: { type: "boolean", "x-mcp-header": "Dry" },
  },
} as const;
const done = { resultType: "complete", content: [] };

function lists(...tools: readonly JsonObject[]): Script {
  return () => ({ resultType: "complete", tools });
}

describe.each(implementations)("headers from arguments, over %s", (_, connect) => {
  const connected = (scripts: Record<string, Script>, options?: ScriptedOptions) =>
    connectScripted(connect, scripts, { era: "modern", isHttp: true, ...options });

  const headersAfter = async (args: JsonObject) => {
    const { client, peer } = await connected({
      "tools/list": lists({ name: "deploy", inputSchema: regionSchema }),
      "tools/call": () => done,
    });
    await client.listTools();
    await client.callTool("deploy", args);
    expect(peer.received.at(-1)?.params?.["arguments"]).toEqual(args);
    return peer.sendOptions.at(-1)?.headers;
  };

  it("declared arguments are repeated, encoded where a header needs it", async () => {
    expect(await headersAfter({ region: "eu west", count: -7, dry: false, other: 1 })).toEqual({
      "Mcp-Param-Region": "eu west",
      "Mcp-Param-Count": "-7",
      "Mcp-Param-Dry": "false",
    });
    for (const region of ["grüß", "a\r\nX-Injected: 1", " padded ", "", "=?base64?YQ==?=", "\t"]) {
      const headers = await headersAfter({ region });
      expect(headers).toEqual({
        "Mcp-Param-Region": `=?base64?${Buffer.from(region).toString("base64")}?=`,
      });
    }
  });

  it("what is absent, null, or not exact in JSON is left out", async () => {
    expect(await headersAfter({})).toBeUndefined();
    const odd = { region: null, count: 2 ** 60, dry: { a: 1 } };
    expect(await headersAfter(odd)).toBeUndefined();
  });

  it("D20: a tool with a malformed declaration is refused, the others are kept", async () => {
    const declaring = (name: string, header: unknown) => ({
      name,
      inputSchema: {
        type: "object",
        properties: { a: { type: "string", "x-mcp-header": header } },
      },
    });
    const { client, peer } = await connected({
      "tools/list": lists(
        declaring("injects", "X\r\nX-Injected: 1"),
        declaring("empty", ""),
        declaring("number", 7),
        { name: "nested", inputSchema: { items: { type: "string", "x-mcp-header": "A" } } },
        declaring("good", "Tenant"),
        declaring("auth", "Authorization"),
      ),
      "tools/call": () => done,
    });
    const { tools, rejected } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["good", "auth"]);
    expect(rejected.map(({ name }) => name)).toEqual(["injects", "empty", "number", "nested"]);
    await client.callTool("auth", { a: "Bearer stolen" });
    expect(peer.sendOptions.at(-1)?.headers).toEqual({
      "Mcp-Param-Authorization": "Bearer stolen",
    });
    await client.callTool("injects", { a: "x" });
    expect(peer.sendOptions.at(-1)?.headers).toBeUndefined();
  });

  it("without headers, in the legacy era or on a pipe, nothing is declared wrongly or sent", async () => {
    const list = lists({ name: "odd", inputSchema: { "x-mcp-header": "" } });
    const scripts = { "tools/list": list, "tools/call": () => done };
    for (const options of [{ era: "legacy" }, { isHttp: false }] as const) {
      const { client, peer } = await connected(scripts, options);
      const { tools } = await client.listTools();
      expect(tools).toHaveLength(1);
      await client.callTool("odd", {});
      expect(peer.sendOptions.at(-1)?.headers).toBeUndefined();
    }
  });

  it("a server that expected other headers is asked what it declares, once, then called again", async () => {
    let isKnown = false;
    const { client, peer } = await connected({
      "tools/list": lists({ name: "deploy", inputSchema: regionSchema }),
      "tools/call": ({ id }, peer) => {
        if (isKnown) return done;
        isKnown = true;
        return peer.fail(id, -32_020, "header mismatch");
      },
    });
    const result = await client.callTool("deploy", { region: "eu" });
    expect(result.isError).toBe(false);
    expect(peer.methods).toEqual(["server/discover", "tools/call", "tools/list", "tools/call"]);
    expect(peer.sendOptions.at(-1)?.headers).toEqual({ "Mcp-Param-Region": "eu" });
  });

  it("F8: a server that never agrees costs one list, and no second call when nothing has changed", async () => {
    let region = 0;
    const mismatch: Script = ({ id }, peer) => peer.fail(id, -32_020, "header mismatch");
    const { client, peer } = await connected({
      "tools/list": () => {
        region += 1;
        const a = { type: "string", "x-mcp-header": `Region-${region}` };
        const tool = { name: "fickle", inputSchema: { properties: { a } } };
        return { resultType: "complete", tools: [tool, { name: "plain" }] };
      },
      "tools/call": mismatch,
    });
    const before = peer.methods.length;
    const fickle = await failureOf(client.callTool("fickle", { a: "x" }));
    expect(fickle).toMatchObject({ code: "rpc_error", details: { rpc: { code: -32_020 } } });
    expect(peer.methods.slice(before)).toEqual(["tools/call", "tools/list", "tools/call"]);
    const plain = await failureOf(client.callTool("plain", {}));
    expect(plain.code).toBe("rpc_error");
    expect(peer.methods.slice(before + 3)).toEqual(["tools/call", "tools/list"]);
  });

  it("a list that was kept is not good enough for a server that disagrees", async () => {
    const { client, peer } = await connected({
      "tools/list": () => ({
        resultType: "complete",
        tools: [],
        ttlMs: 60_000,
        cacheScope: "private",
      }),
      "tools/call": ({ id }, peer) => peer.fail(id, -32_020, "header mismatch"),
    });
    await client.listTools();
    await failureOf(client.callTool("deploy", {}));
    expect(peer.methods.slice(1)).toEqual(["tools/list", "tools/call", "tools/list"]);
  });

  it("the last list counts", async () => {
    let region = 0;
    const { client, peer } = await connected({
      "tools/list": () => {
        region += 1;
        const a = { type: "string", "x-mcp-header": `Region-${region}` };
        return {
          resultType: "complete",
          tools: [{ name: "moves", inputSchema: { properties: { a } } }],
        };
      },
      "tools/call": () => done,
    });
    for (const number of [1, 2]) {
      await client.listTools();
      await client.callTool("moves", { a: "x" });
      expect(peer.sendOptions.at(-1)?.headers).toEqual({ [`Mcp-Param-Region-${number}`]: "x" });
    }
  });

  it("calls that are refused together fetch the list together", async () => {
    const { client, peer } = await connected({
      "tools/call": ({ id }, peer) => peer.fail(id, -32_020, "header mismatch"),
    });
    const failures = [1, 2, 3].map((a) => failureOf(client.callTool("deploy", { a })));
    await settled();
    peer.respond(peer.find("tools/list")?.id, { resultType: "complete", tools: [] });
    for (const failure of failures) expect((await failure).code).toBe("rpc_error");
    expect(peer.methods.filter((method) => method === "tools/list")).toHaveLength(1);
  });

  it("a real server that insists on its headers can be called, listed before or not", async () => {
    const server = await serveHttp(() => {
      const created = new McpServer({ name: "insisting", version: "1.0.0" });
      const inputSchema = fromJsonSchema<{ region?: string }>(regionSchema);
      created.registerTool("deploy", { inputSchema }, ({ region }) => ({
        content: [{ type: "text", text: region ?? "nowhere" }],
      }));
      return created;
    });
    onTestFinished(() => server.close());
    for (const isListed of [true, false]) {
      const { transport } = createWire(server.url);
      const client = await connect(transport, { ...protocolOptions(), clock: systemClock });
      onTestFinished(() => client.close());
      if (isListed) await client.listTools();
      for (const region of ["eu", "grüß\r\nX-Injected: 1"]) {
        const { content } = await client.callTool("deploy", { region });
        expect(content).toEqual([{ type: "text", text: region }]);
      }
    }
  });
});
