// A program that uses a host, of the built package, and leaves its end to the runtime: it tells what still
// keeps it alive after it has closed the host, or, with `left`, when it has only made one.
import { setImmediate as nextTurn } from "node:timers/promises";

import { createHost } from "../../dist/index.js";

const [servers, how] = process.argv.slice(2);
const host = await createHost({ config: false, servers: JSON.parse(servers) });
if (how !== "left") {
  const session = host.session({ level: "yolo" });
  const ready = await session.ready();
  const calls = Object.keys(ready).map((name) =>
    session.call(`mcp__${name}__echo`, { message: name }, { timeoutMs: 600_000 }),
  );
  const outcomes = await Promise.all(calls);
  if (!outcomes.every(({ ok }) => ok)) throw new Error(JSON.stringify(outcomes));
  // One that is never answered, and one of a server that cannot be reached.
  void session.call("mcp__pipe__slow", { steps: 1, delayMs: 600_000 }, { timeoutMs: 0 });
  await host.close();
}
// What ends with the turn of the event loop in which work was done is over by itself; anything else would show again.
for (let turns = 0; turns < 5; turns += 1) await nextTurn();
console.log(JSON.stringify(process.getActiveResourcesInfo()));
