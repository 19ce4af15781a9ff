import { createHost } from "plugboard";

const args = ["-y", "@modelcontextprotocol/server-everything"];
const host = await createHost({ servers: { everything: { command: "npx", args } } });
const session = host.session({ agent: "main", level: "yolo" });
const outcome = await session.call("everything.echo", { message: "hi" });
console.log(outcome.text);
await host.close();
