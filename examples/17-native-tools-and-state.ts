// Tools of the program itself beside those of servers: the same path, with a state that survives only
// what succeeded.
import { createHost, defineSlice, McpConnectionPool } from "plugboard";
import { createMemoryServer, createTestServer } from "plugboard/testing";

await using host = await createHost({
  config: false,
  servers: { math: () => createMemoryServer(createTestServer()).transport },
});
const session = host.session({ agent: "main", level: "yolo", history: true });
const total = defineSlice("total", 0);

session.defineTool<{ readonly amount: number }>({
  name: "pay",
  description: "Adds an amount to the total.",
  inputSchema: {
    type: "object",
    properties: { amount: { type: "number", minimum: 0 } },
    required: ["amount"],
  },
  async handler({ amount }, { context }) {
    const math = context.resources.get(McpConnectionPool)?.get("math");
    const sum = await math?.callTool("add", { a: context.state.get(total), b: amount });
    context.state.set(total, Number(sum?.text));
    if (amount > 100) throw new Error("that is too much");
    return `paid ${amount}`;
  },
});
for (const { name, source } of await session.loadTools()) console.log(name, source);

// Whoever wants to know hears of every call, also of those that a tool makes.
const stop = session.on("tool-invoked", ({ toolName, source, mcpServer, result }) =>
  console.log(`  ${toolName} (${mcpServer ?? source}): ${result.success}`),
);

console.log((await session.call("pay", { amount: 30 })).text, session.state.get(total));

// What a failed call wrote is forgotten.
const failed = await session.call("pay", { amount: 500 });
console.log(failed.ok || failed.error.message, session.state.get(total));
stop();

// Several calls as one step: all of them or none.
const { committed, outcomes } = await session.transaction(async (transaction) => {
  await transaction.call("pay", { amount: 20 }, { compensate: () => console.log("20 given back") });
  await transaction.call("pay", { amount: 300 });
});
console.log(
  committed,
  outcomes.map(({ ok, rolledBack }) => ({ ok, rolledBack })),
);
console.log(JSON.stringify(session.state.snapshot()));

// The history keeps what happened, whatever became of it.
const [last] = session.history().slice(-1);
console.log(last?.toolName, last?.source, last?.result.message);

// Output:
// pay native
// mcp__math__echo mcp
// mcp__math__get_time mcp
// mcp__math__add mcp
//   add (math): true
//   pay (native): true
// paid 30 30
//   add (math): true
//   pay (native): false
// that is too much 30
// 20 given back
// false [ { ok: true, rolledBack: true }, { ok: false, rolledBack: true } ]
// {"total":30}
// pay native that is too much
