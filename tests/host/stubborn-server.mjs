// A server over stdio without tools that neither the end of its input nor SIGTERM ends.
import { createInterface } from "node:readline";

const answers = {
  initialize: {
    result: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      serverInfo: { name: "stubborn", version: "1.0.0" },
    },
  },
};
const unknown = { error: { code: -32_601, message: "Method not found" } };

process.on("SIGTERM", () => {});
// If nobody ends it, it does so itself.
setTimeout(() => process.exit(0), 60_000);
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  process.stdout.write(
    `${JSON.stringify({ jsonrpc: "2.0", id, ...(answers[method] ?? unknown) })}\n`,
  );
});
