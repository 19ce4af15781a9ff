import { importBuilt } from "./build.mjs";
import { firstText } from "./client.mjs";

/** @type {import("../../dist/entries/client.js")} */
const { connectClient } = await importBuilt("entries/client.js", "index.js");

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
