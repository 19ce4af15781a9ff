// A server over stdio that knows nothing but the handshake of 2024: it tells, as the result of any other
// request, what it was started with and which messages it has had.
import { createInterface } from "node:readline";

const messages = [];
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "observed", version: "1.0.0" },
  }),
  ping: () => ({}),
};

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const message = JSON.parse(line);
    const { id, method, params } = message;
    messages.push(message);
    if (id === undefined) return;
    const { argv, env, pid } = process;
    const observed = { args: argv.slice(2), cwd: process.cwd(), env, pid, messages };
    const error = { code: -32_601, message: "Method not found" };
    const answer =
      method === "server/discover" ? { error } : { result: answers[method]?.(params) ?? observed };
    if (method === "never") return;
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
  })
  .on("close", () => process.exit(0));
