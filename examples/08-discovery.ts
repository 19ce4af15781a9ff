// Tools are listed when a server connects. Lists can be filtered, and schemas registered offline.
import { createHost } from "plugboard";
import { testServerEntry } from "plugboard/testing";

await using host = await createHost({
  config: false,
  servers: {
    // Original names; the block list is applied after the allow list.
    filtered: { ...testServerEntry(), enabledTools: ["echo", "add"], disabledTools: ["add"] },
    broken: { command: "no-such-command" },
  },
});

// One server that fails does not fail the others; the reason stays with it.
console.log(JSON.stringify(await host.connectAll()));
console.log(host.server("broken").lastError?.message);

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
for (const { name } of session.tools()) console.log(name);
for (const args of [{}, { path: "/tmp/x" }]) {
  const outcome = await session.call("mcp__filesystem__read_file", args);
  if (!outcome.ok) console.log(outcome.error.code);
}

// Output:
// {"filtered":true,"broken":false}
// command not found: "no-such-command"
// mcp__filtered__echo
// mcp__filesystem__read_file
// invalid_arguments
// not_connected
