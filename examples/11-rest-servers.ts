// Two plain REST services as MCP servers: listed, named, checked and called like any other.
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

import { createHost } from "plugboard";

import { calculator } from "./servers/rest-calculator.ts";
import { greeter } from "./servers/rest-greeter.ts";

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const host = await createHost({
  config: false,
  servers: {
    greeter: { url: await listen(greeter), transport: "rest" },
    calculator: { url: await listen(calculator), transport: "rest" },
  },
});
const session = host.session({ agent: "main", level: "yolo" });
for (const { name, description } of await session.loadTools())
  console.log(`${name}: ${description}`);

const calls = [
  ["mcp__greeter__hello_world", { name: "Ada" }],
  ["mcp__calculator__calculate", { expression: "2 * (3 + 4)" }],
  // Refused by the service:
  ["mcp__calculator__calculate", { expression: "process.exit()" }],
  // Refused before anything is sent:
  ["mcp__greeter__hello_world", {}],
] as const;
for (const [name, args] of calls) {
  const outcome = await session.call(name, args);
  console.log(outcome.ok ? outcome.text : `${outcome.error.code}: ${outcome.error.message}`);
}

await host.close();
greeter.close();
calculator.close();

// Output:
// mcp__greeter__hello_world: Returns a greeting
// mcp__calculator__calculate: Performs calculations
// Hello, Ada!
// 14
// tool_error: Unexpected p
// invalid_arguments: hello_world: "name" is required (string)
