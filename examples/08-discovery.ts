// Tools are listed when a server connects. Lists can be filtered, and schemas registered offline.
import { createHost } from "plugboard";
import { createDemoServer, createMemoryServer, testServerEntry } from "plugboard/testing";

await using host = await createHost({
  config: false,
  servers: {
    // Original names; the block list is applied after the allow list.
    filtered: { ...testServerEntry(), enabledTools: ["echo", "add"], disabledTools: ["add"] },
    broken: { command: "no-such-command" },
    demo: () => createMemoryServer(createDemoServer()).transport,
  },
});

// One server that fails does not fail the others; the reason stays with it.
console.log(JSON.stringify(await host.connectAll()));
console.log(host.server("broken").lastError?.message);

// The record of a server has what it offers; resources are described, not read.
const { tools, resources = [] } = host.server("demo");
console.log(tools.map(({ name }) => name).slice(0, 3));
for (const { uri, description } of resources.slice(0, 1)) console.log(`${uri} - ${description}`);

// A cached tool list, without any server behind it: it lists and validates.
host.registerTools("filesystem", [
  {
    name: "read_file",
    description: "Read the contents of a file",
    inputSchema: {
      type: "object",
      properties: { path: { type: "string", description: "File path to read" } },
      required: ["path"],
    },
  },
]);

const session = host.session({ level: "yolo" });
for (const { name, serverName } of session.tools()) if (serverName !== "demo") console.log(name);
for (const args of [{}, { path: "/tmp/x" }]) {
  const outcome = await session.call("mcp__filesystem__read_file", args);
  if (!outcome.ok) console.log(outcome.error.code);
}

// Output:
// {"filtered":true,"broken":false,"demo":true}
// command not found: "no-such-command"
// [ 'echo', 'get_time', 'add' ]
// file:///readme.txt - What this server is for
// mcp__filtered__echo
// mcp__filesystem__read_file
// invalid_arguments
// not_connected
