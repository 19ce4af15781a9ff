import { connectClient } from "plugboard/client";

const args = ["-y", "@modelcontextprotocol/server-everything"];
const client = await connectClient({ command: "npx", args });
const result = await client.callTool("echo", { message: "hi" });
console.log(result.toText());
await client.close();
