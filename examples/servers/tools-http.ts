// Many clients, over streamable HTTP. Bound to this machine: what others may reach needs a sign-in.
import { createAdaptorServer } from "@hono/node-server";
import { createMcpHandler } from "@modelcontextprotocol/server";

import { createToolsServer } from "./tools-server.ts";

const mcp = createMcpHandler(createToolsServer);
const ownNames = new Set(["127.0.0.1", "localhost"]);

/** A web page can send requests to this machine, also under a name of its own: Host and Origin tell. */
function isFromHere({ url, headers }: Request): boolean {
  const addresses = [url, headers.get("origin") ?? url];
  return addresses.every((it) => URL.canParse(it) && ownNames.has(new URL(it).hostname));
}

export const toolsOverHttp = createAdaptorServer({
  fetch: (request) => {
    if (!isFromHere(request)) return new Response(null, { status: 403 });
    if (new URL(request.url).pathname !== "/mcp") return new Response(null, { status: 404 });
    return mcp.fetch(request);
  },
});

if (process.argv[1] === import.meta.filename) toolsOverHttp.listen(3000, "127.0.0.1");
