// Calls resolve to outcomes; `execute`, connecting and the direct client throw. One class per family, one
// stable code per cause.
import {
  CapabilitySet,
  createHost,
  errorOfOutcome,
  McpConfigError,
  McpConnectionError,
  McpError,
  McpPermissionError,
  McpSchemaError,
  McpStateError,
  McpTimeoutError,
  McpToolError,
  McpTransportError,
} from "plugboard";
import { connectClient, openWire } from "plugboard/client";
import { testServerEntry } from "plugboard/testing";

/** What is thrown, with its class and its code. */
async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (McpError.is(error)) console.log(error.name, error.code);
    return error;
  }
}

await using host = await createHost({ config: false, demo: true });
host.registerTools("offline", [{ name: "read_file", inputSchema: { type: "object" } }]);
const capabilities = new CapabilitySet()
  .grant("mcp:demo:add")
  .grant("mcp:demo:slow")
  .grant("mcp:offline:*");
const session = host.session({ capabilities });

// Not granted, not there, nothing behind it: others raise PermissionError, ValueError, RuntimeError.
for (const [name, family] of [
  ["mcp__demo__echo", McpPermissionError],
  ["mcp__nobody__echo", McpToolError],
  ["mcp__offline__read_file", McpStateError],
] as const)
  console.log((await thrownBy(() => session.execute(name))) instanceof family);

// What an agent should read and react to comes back as text.
console.log(await session.execute("mcp__demo__add", { a: 1 }));

// An outcome as the error of its family, for programs that would rather throw.
for (const [args, name, family] of [
  [{ a: 1 }, "mcp__demo__add", McpSchemaError],
  [{ steps: 1, delayMs: 60_000 }, "mcp__demo__slow", McpTimeoutError],
] as const) {
  const outcome = await session.call(name, args, { timeoutMs: 50 });
  if (!outcome.ok) console.log(outcome.error.code, errorOfOutcome(outcome) instanceof family);
}

// Connecting: no such command, an address that is never dialled, an entry that contradicts itself.
const missing = await thrownBy(() =>
  connectClient({ name: "missing", command: "no-such-command" }),
);
if (missing instanceof McpConnectionError) console.log(missing.serverName);
const forbidden = await thrownBy(() =>
  connectClient({ name: "cloud", url: "http://169.254.169.254/mcp" }),
);
console.log(forbidden instanceof McpTransportError);
const wrong = await thrownBy(() =>
  openWire({ name: "contradiction", command: "a", url: "http://127.0.0.1" }),
);
console.log(wrong instanceof McpConfigError);

// The number of a JSON-RPC error is kept beside the code.
await using client = await connectClient({ name: "test", ...testServerEntry() });
const unknown = await thrownBy(() => client.callTool("unknown", {}));
if (unknown instanceof McpToolError) console.log(unknown.rpcError?.code);

// Output:
// McpPermissionError denied
// true
// McpToolError tool_unknown
// true
// McpStateError not_connected
// true
// add: "b" is required (number)
// invalid_arguments true
// timeout true
// McpConnectionError command_not_found
// missing
// McpTransportError blocked_address
// true
// McpConfigError config_invalid
// true
// McpToolError rpc_error
// -32602
