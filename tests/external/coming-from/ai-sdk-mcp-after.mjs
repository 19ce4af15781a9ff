import { createHost } from "plugboard";
import { aiSdkTools } from "plugboard/adapters";

const args = ["-y", "@modelcontextprotocol/server-everything"];
const host = await createHost({ servers: { everything: { command: "npx", args } } });
const session = host.session({ agent: "main", level: "yolo" });
const tools = await aiSdkTools(session); // for generateText({ tools })
const options = { toolCallId: "1", messages: [] };
const result = await tools.mcp__everything__echo.execute({ message: "hi" }, options);
console.log(result.text);
await host.close();
