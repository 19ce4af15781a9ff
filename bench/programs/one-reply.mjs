// `node one-reply.mjs <command> [argument …]`: starts a server, asks one question and prints the answer. Less than
// this no command line does that starts a server.

import { spawn } from "node:child_process";

const [command = "", ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const params = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "bench-floor", version: "1.0.0" },
};
server.stdout.once("data", (reply) => {
  process.stdout.write(reply);
  server.stdin.end();
});
server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })}\n`);
