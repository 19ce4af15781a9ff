import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { firstText } from "./client.mjs";

/** @type {import("./client.mjs").OpenEchoClient} */
export const open = (target) => openWith(target, {});

/**
 * @param {import("./client.mjs").Target} target
 * @param {import("@modelcontextprotocol/client").ClientOptions} options
 */
export async function openWith(target, options) {
  const client = new Client({ name: "bench-sdk-v2", version: "1.0.0" }, options);
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
