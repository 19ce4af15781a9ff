// One server without a host: no names, no policy, no validation. For programs, not for agents.
import { connectClient } from "plugboard/client";
import { testServerEntry } from "plugboard/testing";

{
  await using client = await connectClient({ name: "test", ...testServerEntry() });
  const tools = await client.listTools();
  console.log(tools.map(({ name }) => name).join(", "));
  console.log((await client.callTool("echo", { message: "Hello!" })).toText());
  console.log((await client.callTool("add", { a: 2, b: 3 })).toText());
}

// The same by hand.
const client = await connectClient({ name: "test", ...testServerEntry() }, { timeoutMs: 30_000 });
try {
  console.log(client.isInitialized, client.serverInfo.name);
} finally {
  await client.close();
}
console.log(client.isConnected);

// Output:
// echo, get_time, add
// Hello!
// 5
// true plugboard-test
// false
