import { MCPClient } from "@mastra/mcp";

const args = ["-y", "@modelcontextprotocol/server-everything"];
const mcp = new MCPClient({ servers: { everything: { command: "npx", args } } });
const tools = await mcp.getTools(); // for new Agent({ tools })
const result = await tools.everything_echo.execute({ context: { message: "hi" } });
console.log(result.content[0].text);
await mcp.disconnect();
