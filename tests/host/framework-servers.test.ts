import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { connectClient } from "../../src/entries/client.ts";
import { createHost } from "../../src/index.ts";
import { findExpressServer, findFastApiServer } from "../fixtures/servers/framework-servers.ts";
import type { RunningHttpServer } from "../fixtures/servers/real-servers.ts";

// The servers that building-servers.md shows, each in a process of its own.
const frameworks = [
  {
    framework: "Express",
    server: findExpressServer(),
    tool: { name: "calculate", description: "Performs calculations" },
    argumentName: "expression",
    value: "2 * (3 + 4)",
    result: "14",
    broken: "2 * (",
    unknownStatus: 404,
  },
  {
    framework: "FastAPI",
    server: findFastApiServer(),
    tool: { name: "hello_world", description: "Returns a greeting" },
    argumentName: "name",
    value: "Ada",
    result: "Hello, Ada!",
    // It has no wrong value, but it can be missing.
    broken: undefined,
    unknownStatus: 200,
  },
] as const;

describe.each(frameworks)("a REST server written with $framework", (row) => {
  const { server, tool, argumentName, value, result, broken, unknownStatus } = row;
  const test = it.skipIf(server.missing !== undefined);
  const note = server.missing === undefined ? "" : ` (skipped: ${server.missing})`;
  let running: RunningHttpServer;

  beforeAll(async () => {
    if (server.missing === undefined) running = await server.start();
  });

  afterAll(async () => {
    if (server.missing === undefined) await running[Symbol.asyncDispose]();
  });

  test(`RST-09: works as it stands, named "rest" or found out behind "http"${note}`, async () => {
    for (const transport of ["rest", "http"] as const) {
      await using host = await createHost({
        config: false,
        servers: { example: { url: running.url, transport } },
      });
      expect(await host.connectAll()).toEqual({ example: true });
      const session = host.session({ level: "yolo" });
      const name = `mcp__example__${tool.name}`;
      expect(session.tools()).toMatchObject([{ name, description: tool.description }]);
      expect(await session.call(name, { [argumentName]: value })).toMatchObject({
        ok: true,
        text: result,
      });
      expect(await session.call(name, {})).toMatchObject({
        ok: false,
        error: { code: "invalid_arguments" },
      });
    }
  });

  test(`RST-05, RST-09: says what is wrong with a call in its own way${note}`, async () => {
    const unknown = await fetch(`${running.url}/tools/call`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "nope", arguments: {} }),
    });
    expect(unknown.status).toBe(unknownStatus);
    await using client = await connectClient({ url: running.url, transport: "rest" });
    expect(await client.callTool("nope", {})).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "Unknown tool: nope" }],
    });
    // What the server's own code throws becomes a page or a line of the framework's, which is no JSON.
    const wrong = broken === undefined ? {} : { [argumentName]: broken };
    await expect(client.callTool(tool.name, wrong)).rejects.toMatchObject({
      code: "http_error",
      details: { status: 500 },
    });
  });
});
