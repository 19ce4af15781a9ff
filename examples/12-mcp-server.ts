// The same MCP server twice: as a child process over stdio and over HTTP.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

import { createHost } from "plugboard";

import { toolsOverHttp } from "./servers/tools-http.ts";

toolsOverHttp.listen(0, "127.0.0.1");
await once(toolsOverHttp, "listening");
const { port } = toolsOverHttp.address() as AddressInfo;
const program = fileURLToPath(new URL("servers/tools-stdio.ts", import.meta.url));

const host = await createHost({
  config: false,
  servers: {
    local: { command: process.execPath, args: ["--import", "tsx", program] },
    remote: { url: `http://127.0.0.1:${port}/mcp` },
  },
});
const session = host.session({ agent: "main", level: "yolo" });
await session.ready();
for (const server of ["local", "remote"]) {
  const greeting = await session.call(`mcp__${server}__hello_world`, { name: server });
  const value = await session.call(`mcp__${server}__calculate`, { expression: "7 % 4" });
  const error = await session.call(`mcp__${server}__calculate`, { expression: "7 +" });
  console.log(greeting.text, value.text, error.text);
}

await host.close();
toolsOverHttp.close();

// Output:
// Hello, local! 3 The expression ends too early
// Hello, remote! 3 The expression ends too early
