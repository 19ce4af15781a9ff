// A server of one file without a package, as it can lie beside any bundle.
import { createInterface } from "node:readline";

let clientInfo;
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  if (method === "initialize") ({ clientInfo } = params);
  const results = {
    initialize: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "local", version: "1" },
    },
    "tools/list": { tools: [{ name: "who", inputSchema: { type: "object" } }] },
    "tools/call": {
      content: [{ type: "text", text: `${clientInfo?.name} ${clientInfo?.version}` }],
    },
  };
  const error = { code: -32_601, message: "no such method" };
  const answer = method in results ? { result: results[method] } : { error };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
