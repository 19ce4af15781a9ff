// What the bundlers bundle: a host with a store, a schema that a thread checks, a process and HTTP.
import { createServer } from "node:http";
import path from "node:path";

import { createHost } from "plugboard";
import { demoServerEntry } from "plugboard/testing";

const [, , home = "", serverFile = ""] = process.argv;

const tree = { type: "object", properties: { next: { $ref: "#/$defs/node" } } };
const inputSchema = {
  type: "object",
  $defs: {
    node: {
      anyOf: [
        { ...tree, required: ["a"] },
        { ...tree, required: ["b"] },
        { type: "string", pattern: "^(x+)+$" },
      ],
    },
  },
  properties: { node: { $ref: "#/$defs/node" } },
};

/** Plain JSON answers of a server over HTTP; its one tool tells who asked. */
let clientInfo;
const web = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    const { id, method, params } = JSON.parse(body || "{}");
    if (method === "initialize") ({ clientInfo } = params);
    const result = {
      initialize: {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "web", version: "1" },
      },
      "tools/list": { tools: [{ name: "who", inputSchema }] },
      "tools/call": { content: [{ type: "text", text: clientInfo?.version }] },
    }[method];
    const isKnown = result !== undefined;
    response.writeHead(id === undefined ? 202 : 200, { "content-type": "application/json" });
    const error = { code: -32_601, message: "no such method" };
    response.end(
      id === undefined
        ? ""
        : JSON.stringify({ jsonrpc: "2.0", id, ...(isKnown ? { result } : { error }) }),
    );
  });
});
// No `await` at the top, which CommonJS does not have.
async function main() {
  await new Promise((resolve) => web.listen(0, "127.0.0.1", resolve));

  const warnings = [];
  const logger = {
    debug() {},
    info() {},
    warn: (line) => warnings.push(line),
    error: (line) => warnings.push(line),
  };
  const host = await createHost({
    home,
    cwd: home,
    store: path.join(home, "store.db"),
    logger,
    servers: {
      web: { url: `http://127.0.0.1:${web.address().port}/mcp` },
      local: { command: process.execPath, args: [serverFile] },
    },
  });
  const session = host.session({ agent: "main", level: "yolo" });
  const good = await session.call("mcp__web__who", { node: { a: 1, next: "xx" } });
  const bad = await session.call("mcp__web__who", { node: { next: "xx" } });
  const local = await session.call("mcp__local__who", {});
  const trail = await host.audit.query();
  let demo;
  try {
    demo = demoServerEntry().args[0];
  } catch (error) {
    demo = error.message;
  }
  await host.close();
  web.close();
  console.log(
    JSON.stringify({
      good: good.ok ? good.text : good.error.message,
      bad: bad.ok ? bad.text : bad.error.code,
      local: local.ok ? local.text : local.error.message,
      trail: trail.length,
      warnings,
      demo,
    }),
  );
}

void main();
