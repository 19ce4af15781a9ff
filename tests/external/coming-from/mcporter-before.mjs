import { createRuntime } from "mcporter";

const args = ["-y", "@modelcontextprotocol/server-everything"];
const command = { kind: "stdio", command: "npx", args, cwd: process.cwd() };
const runtime = await createRuntime({ servers: [{ name: "everything", command }] });
const result = await runtime.callTool("everything", "echo", { args: { message: "hi" } });
console.log(result.content[0].text);
await runtime.close();
