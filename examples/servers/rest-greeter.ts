// A REST service with one tool. What goes wrong is said in the body; the status stays 200.
import { createJsonServer } from "./json-server.ts";

const tools = [
  {
    name: "hello_world",
    description: "Returns a greeting",
    inputSchema: {
      type: "object",
      properties: { name: { type: "string" } },
      required: ["name"],
    },
  },
];

export const greeter = createJsonServer({
  "GET /tools": () => ({ body: { tools } }),

  "POST /tools/call": ({ name, arguments: args }) => {
    if (name !== "hello_world") return { body: { error: `Unknown tool: ${String(name)}` } };
    const { name: who } = args as { name: string };
    return { body: { result: `Hello, ${who}!` } };
  },

  "GET /health": () => ({ body: { status: "ok" } }),
});

if (process.argv[1] === import.meta.filename) greeter.listen(3000, "127.0.0.1");
