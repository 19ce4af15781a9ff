import { createMCPClient } from "@ai-sdk/mcp";
import { StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";

import { firstText } from "./client.mjs";

/** @type {import("./client.mjs").OpenEchoClient} */
export async function open(target) {
  const client = await createMCPClient({
    transport:
      target.kind === "stdio"
        ? new StdioMCPTransport({ command: target.command, args: target.args })
        : { type: "http", url: target.url },
  });
  const { echo } = await client.tools();
  if (echo === undefined) throw new Error("the tool echo was not listed");
  return {
    // What generateText does when the model asks for the tool.
    call: (text) =>
      Promise.resolve(echo.execute({ text }, { toolCallId: "1", messages: [], context: {} })),
    textOf: firstText,
    close: () => client.close(),
  };
}
