import { experimental_createMCPClient as createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";

const args = ["-y", "@modelcontextprotocol/server-everything"];
const client = await createMCPClient({ transport: new StdioTransport({ command: "npx", args }) });
const tools = await client.tools(); // for generateText({ tools })
const result = await tools.echo.execute({ message: "hi" }, { toolCallId: "1", messages: [] });
console.log(result.content[0].text);
await client.close();
