import { MCPClient } from "mcp-use";

const args = ["-y", "@modelcontextprotocol/server-everything"];
const client = MCPClient.fromDict({ mcpServers: { everything: { command: "npx", args } } });
const session = await client.createSession("everything");
const result = await session.callTool("echo", { message: "hi" });
console.log(result.content[0].text);
await client.closeAllSessions();
