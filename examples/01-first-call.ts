// One server, one agent, one call. Any MCP server goes where the bundled test server stands.
import { createHost } from "plugboard";
import { testServerEntry } from "plugboard/testing";

await using host = await createHost({ config: false, servers: { demo: testServerEntry() } });
const session = host.session({ agent: "main", level: "yolo" });
for (const tool of await session.loadTools()) console.log(tool.name);
const outcome = await session.call("mcp__demo__add", { a: 2, b: 3 });
console.log(outcome.ok ? outcome.text : outcome.error.message);

// Output:
// mcp__demo__echo
// mcp__demo__get_time
// mcp__demo__add
// 5
