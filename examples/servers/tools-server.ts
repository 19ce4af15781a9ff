// The tools of both REST services as one MCP server; how it is reached is decided elsewhere.
import { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";

import { evaluateExpression } from "./evaluate-expression.ts";

export function createToolsServer(): McpServer {
  const server = new McpServer({ name: "example-tools", version: "1.0.0" });

  server.registerTool(
    "hello_world",
    {
      description: "Returns a greeting",
      inputSchema: z.object({ name: z.string() }),
      annotations: { readOnlyHint: true },
    },
    ({ name }) => ({ content: [{ type: "text", text: `Hello, ${name}!` }] }),
  );

  server.registerTool(
    "calculate",
    {
      description: "Performs calculations",
      inputSchema: z.object({ expression: z.string() }),
      annotations: { readOnlyHint: true },
    },
    // What a tool throws reaches the model as an error result, so that it can try again.
    ({ expression }) => ({
      content: [{ type: "text", text: String(evaluateExpression(expression)) }],
    }),
  );

  return server;
}
