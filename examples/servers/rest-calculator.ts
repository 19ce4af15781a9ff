// A REST service with one tool. What goes wrong is said by the status as well as in the body.
import { evaluateExpression } from "./evaluate-expression.ts";
import { createJsonServer } from "./json-server.ts";

const tools = [
  {
    name: "calculate",
    description: "Performs calculations",
    inputSchema: {
      type: "object",
      properties: { expression: { type: "string" } },
      required: ["expression"],
    },
  },
];

export const calculator = createJsonServer({
  "GET /tools": () => ({ body: { tools } }),

  "POST /tools/call": ({ name, arguments: args }) => {
    if (name !== "calculate")
      return { status: 404, body: { error: `Unknown tool: ${String(name)}` } };
    const { expression } = args as { expression: string };
    try {
      return { body: { result: evaluateExpression(expression).toString() } };
    } catch (error) {
      return { status: 400, body: { error: (error as Error).message } };
    }
  },

  "GET /health": () => ({ body: { status: "ok" } }),
});

if (process.argv[1] === import.meta.filename) calculator.listen(3000, "127.0.0.1");
