// An agent at a terminal: what may destroy something is asked about where the program runs.
import { createHost } from "plugboard";
import { createTerminalHuman } from "plugboard/human";
import { demoServerEntry } from "plugboard/testing";

await using host = await createHost({
  config: false,
  servers: { demo: { ...demoServerEntry(), skipReadOnlyPrompts: true } },
  human: createTerminalHuman(),
});
const session = host.session({ agent: "main", level: "trusted" });

// What a model would ask for.
const wishes = [
  { name: "mcp__demo__add", arguments: { a: 2, b: 3 } },
  { name: "mcp__demo__delete_note", arguments: { id: "n1" } },
];
for (const wish of wishes) {
  const outcome = await session.dispatch(wish);
  console.log(wish.name, "→", outcome.ok ? outcome.text : outcome.error.code);
}

// Output:
// mcp__demo__add → 5
// mcp__demo__delete_note → consent_denied
