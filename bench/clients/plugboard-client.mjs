import { connectClient } from "../../dist/entries/client.js";
import { firstText } from "./client.mjs";

/** Plugboard's protocol core and transports without the host above them.
 *
 * @type {import("./client.mjs").OpenEchoClient}
 */
export async function open({ kind, ...entry }) {
  const client = await connectClient({ name: `echo-${kind}`, ...entry });
  await client.listTools();
  return {
    call: (text) => client.callTool("echo", { text }),
    textOf: firstText,
    close: () => client.close(),
  };
}
