// What happened: events while it happens, the audit trail afterwards.
import { createHost } from "plugboard";
import { demoServerEntry } from "plugboard/testing";

await using host = await createHost({
  config: false,
  servers: { demo: demoServerEntry() },
  store: ":memory:", // a path keeps the trail beyond this program
});
host.on("call-end", ({ agent, serverName, toolName, ok }) =>
  console.log(`event: ${agent} called ${serverName}.${toolName}, ${ok ? "ok" : "failed"}`),
);

const session = host.session({ agent: "main", level: "yolo" });
await session.call("demo.add", { a: 2, b: 3 });
await session.call("demo.add", { a: 2 });
await host.session({ agent: "guest" }).call("demo.add", { a: 2, b: 3 });

// Newest first; without the arguments.
for (const { agent, server, tool, code } of await host.audit.query({ type: "call" }))
  console.log(`audit: ${agent} ${server}.${tool}: ${code}`);

// The same as JSON lines, oldest first, for a log of your own.
for await (const line of host.audit.export({ type: "call", agent: "guest" }))
  console.log(Object.keys(JSON.parse(line) as object).join(", "));

// Output:
// event: main called demo.add, ok
// event: main called demo.add, failed
// event: guest called demo.add, failed
// audit: guest demo.add: denied
// audit: main demo.add: invalid_arguments
// audit: main demo.add: ok
// seq, at, type, agent, server, tool, code, detail
