// Calls resolve to outcomes; connecting and the direct client throw. One class per family, one
// stable code per cause.
import { connectClient, McpConfigError, McpError, McpToolError, openWire } from "plugboard";
import { testServerEntry } from "plugboard/testing";

await using client = await connectClient({ name: "test", ...testServerEntry() });
try {
  await client.callTool("unknown", {});
} catch (error) {
  if (error instanceof McpToolError) console.log(error.code, error.rpcError?.code);
}

try {
  await connectClient({ name: "missing", command: "no-such-command" });
} catch (error) {
  if (McpError.is(error, "command_not_found")) console.log(error.name, error.serverName);
}

try {
  openWire({ name: "contradiction", command: "a", url: "http://127.0.0.1" });
} catch (error) {
  if (error instanceof McpConfigError) console.log(error.code);
}

// Output:
// rpc_error -32602
// McpConnectionError missing
// config_invalid
