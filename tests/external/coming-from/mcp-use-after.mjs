import { createHost } from "plugboard";

const args = ["-y", "@modelcontextprotocol/server-everything"];
const host = await createHost({ servers: { everything: { command: "npx", args } } });
const session = host.session({ agent: "main", level: "yolo" });
const outcome = await session.call({ server: "everything", tool: "echo" }, { message: "hi" });
console.log(outcome.content[0].text);
await host.close();
