import { MultiServerMCPClient } from "@langchain/mcp-adapters";

const args = ["-y", "@modelcontextprotocol/server-everything"];
const everything = { transport: "stdio", command: "npx", args };
const client = new MultiServerMCPClient({ mcpServers: { everything } });
const tools = await client.getTools(); // for createAgent({ tools })
const echo = tools.find(({ name }) => name === "echo");
console.log(await echo.invoke({ message: "hi" }));
await client.close();
