// Many clients, over streamable HTTP. Bound to this machine: what others may reach needs a sign-in.
import { createAdaptorServer } from "@hono/node-server";
import { createMcpHandler } from "@modelcontextprotocol/server";

import { createToolsServer } from "./tools-server.ts";

const mcp = createMcpHandler(createToolsServer);

export const toolsOverHttp = createAdaptorServer({
  fetch: (request) =>
    new URL(request.url).pathname === "/mcp"
      ? mcp.fetch(request)
      : new Response(null, { status: 404 }),
});

if (process.argv[1] === import.meta.filename) toolsOverHttp.listen(3000, "127.0.0.1");
