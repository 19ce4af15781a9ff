import { spawnSync } from "node:child_process";

import { bundleProgram, programFile } from "../../scripts/bundle-program.mjs";

/** The bundled servers as a program that starts quickly: tests start hundreds of them. */
export const bundledServers = programFile("src/testing/run-stdio.ts");

const clientInfo = { name: "test", version: "1.0.0" };
const session = [
  {
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
  },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/list" },
  { id: 3, method: "tools/call", params: { name: "echo", arguments: { message: "hi" } } },
];

/** Writes it, unless it is there. */
export async function bundleServers(): Promise<void> {
  await bundleProgram("src/testing/run-stdio.ts");
  // Its first run compiles what those of the tests are going to use.
  const input = session.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  spawnSync(process.execPath, [bundledServers, "demo"], { input: input.join("") });
}
