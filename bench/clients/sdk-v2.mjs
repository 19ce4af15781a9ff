import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { firstText } from "./client.mjs";

/** @type {import("./client.mjs").OpenEchoClient} */
export async function open(target) {
  const client = new Client({ name: "bench-sdk-v2", version: "1.0.0" });
  await client.connect(
    target.kind === "stdio"
      ? new StdioClientTransport({ command: target.command, args: target.args })
      : new StreamableHTTPClientTransport(new URL(target.url)),
  );
  await client.listTools();
  return {
    call: (text) => client.callTool({ name: "echo", arguments: { text } }),
    textOf: firstText,
    close: () => client.close(),
  };
}
