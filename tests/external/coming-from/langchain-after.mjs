import { tool, ToolMessage } from "langchain";
import { createHost } from "plugboard";
import { langChainTools } from "plugboard/adapters";

const args = ["-y", "@modelcontextprotocol/server-everything"];
const host = await createHost({ servers: { everything: { command: "npx", args } } });
const session = host.session({ agent: "main", level: "yolo" });
const tools = await langChainTools(session, { tool, ToolMessage }); // for createAgent({ tools })
const echo = tools.find(({ name }) => name === "mcp__everything__echo");
console.log(await echo.invoke({ message: "hi" }));
await host.close();
