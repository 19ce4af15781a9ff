import { describe, expect, it } from "vitest";

import { connectClient } from "../../src/entries/client.ts";
import { type Respond, ScriptedServer } from "../fixtures/http/scripted-server.ts";

/** What a small server of the 2025 revisions answers; anything else is taken for a call. */
const results: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "insistent", version: "1" },
  },
  "tools/list": { tools: [{ name: "search", inputSchema: { type: "object" } }] },
};
const found = { content: [{ type: "text", text: "found" }] };

/** Answers in an event stream, as many servers do for every request. */
const answerInEvents: Respond = (request, response) => {
  const { id, method = "" } = request.message;
  if (request.method !== "POST") return response.writeHead(405).end();
  if (id === undefined) return response.writeHead(202).end();
  const answer =
    method === "server/discover"
      ? { error: { code: -32_601, message: "Method not found" } }
      : { result: results[method] ?? found };
  const data = JSON.stringify({ jsonrpc: "2.0", id, ...answer });
  return response
    .writeHead(200, { "content-type": "text/event-stream" })
    .end(`event: message\ndata: ${data}\n\n`);
};

/** Lists the tools of the server and calls one. */
async function use(entry: Record<string, unknown>): Promise<string> {
  await using client = await connectClient(entry);
  const [tool] = await client.listTools();
  return (await client.callTool(tool?.name ?? "", {})).toText();
}

// Each of these servers works in other clients and fails in one that takes the shortcut.
describe.each(["streamable-http", "http-post"])("over %s, a local server", (transport) => {
  it("B-K2, SHT-05: that answers 406 unless event streams are accepted is connected", async () => {
    await using server = await ScriptedServer.start((request, response) => {
      const { accept = "" } = request.headers;
      const isEnough = accept.includes("application/json") && accept.includes("text/event-stream");
      if (request.method === "POST" && !isEnough) return response.writeHead(406).end();
      return answerInEvents(request, response);
    });
    expect(await use({ url: server.url, transport })).toBe("found");
  });

  it("B-K2, SHT-04, HTP-01: that answers every request in an event stream is understood", async () => {
    await using server = await ScriptedServer.start(answerInEvents);
    expect(await use({ url: server.url, transport })).toBe("found");
  });

  it("B-K2, B-K3: whose address has a key in its query and a slash at its end keeps both", async () => {
    const target = "/mcp/?exaApiKey=k%2B1&tools=a,b";
    await using server = await ScriptedServer.start((request, response) =>
      request.target === target ? answerInEvents(request, response) : response.writeHead(404).end(),
    );
    expect(await use({ url: `${server.origin}${target}`, transport })).toBe("found");
    expect(new Set(server.requests.map((request) => request.target))).toEqual(new Set([target]));
  });

  it("B-K2, AUT-11: that asks for a header of its own gets it with every request", async () => {
    await using server = await ScriptedServer.start((request, response) =>
      request.headers["x-api-key"] === "k1"
        ? answerInEvents(request, response)
        : response.writeHead(401).end(),
    );
    expect(await use({ url: server.url, transport, headers: { "X-Api-Key": "k1" } })).toBe("found");
    expect(server.requests.every(({ headers }) => headers["x-api-key"] === "k1")).toBe(true);
  });

  it("AUT-02, B-K4: that asks for a bearer token gets the scheme once", async () => {
    await using server = await ScriptedServer.start((request, response) =>
      request.headers.authorization === "Bearer abc"
        ? answerInEvents(request, response)
        : response.writeHead(401).end(),
    );
    const auth = { type: "bearer", token: "Bearer abc" };
    expect(await use({ url: server.url, transport, auth })).toBe("found");
  });
});
