// One of several processes that share a sign-in: it calls a tool again and again until it has seen the token change
// so many times, and prints how the calls ended. Arguments: a JSON object `{ home, entry, renewals }`.
import path from "node:path";

import { createHost } from "../../../dist/index.js";

const { home, entry, renewals } = JSON.parse(process.argv[2] ?? "");
const host = await createHost({
  config: false,
  home,
  store: path.join(home, "store.db"),
  servers: { app: entry },
  logger: false,
});
const session = host.session({ level: "yolo" });
await session.ready();
const outcomes = new Set();
const issued = new Set();
while (issued.size <= renewals) {
  const outcome = await session.call("mcp__app__echo", { message: "hello" });
  outcomes.add(outcome.ok ? outcome.text : outcome.error.code);
  if (!outcome.ok) break;
  issued.add((await host.signIn("app"))?.issuedAt);
}
await host.close();
console.log(JSON.stringify([...outcomes]));
