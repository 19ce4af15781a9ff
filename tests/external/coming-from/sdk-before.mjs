import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const args = ["-y", "@modelcontextprotocol/server-everything"];
const client = new Client({ name: "my-program", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: "npx", args }));
const result = await client.callTool({ name: "echo", arguments: { message: "hi" } });
console.log(result.content[0].text);
await client.close();
