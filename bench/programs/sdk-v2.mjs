// `node sdk-v2.mjs <tools|call> <command> [argument …]`: lists the tools of a server, or calls its `echo`, with the
// client of the official SDK and nothing else.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [task, command = "", ...args] = process.argv.slice(2);
const client = new Client({ name: "bench-sdk-v2", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command, args }));
const answer =
  task === "tools"
    ? await client.listTools()
    : await client.callTool({ name: "echo", arguments: { text: "x" } });
process.stdout.write(`${JSON.stringify(answer)}\n`);
await client.close();
