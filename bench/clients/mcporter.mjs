import { createRuntime } from "mcporter";

import { firstText } from "./client.mjs";

/** @type {import("./client.mjs").OpenEchoClient} */
export async function open(target) {
  const command =
    target.kind === "stdio"
      ? { ...target, cwd: process.cwd() }
      : { kind: target.kind, url: new URL(target.url) };
  const runtime = await createRuntime({ servers: [{ name: "echo", command }] });
  await runtime.listTools("echo");
  return {
    call: (text) => runtime.callTool("echo", "echo", { args: { text } }),
    textOf: firstText,
    close: () => runtime.close(),
  };
}
