import { MultiServerMCPClient } from "@langchain/mcp-adapters";

/** @type {import("./client.mjs").OpenEchoClient} */
export async function open(target) {
  const client = new MultiServerMCPClient({
    mcpServers: {
      echo:
        target.kind === "stdio"
          ? { transport: "stdio", command: target.command, args: target.args }
          : { transport: "http", url: target.url },
    },
  });
  const echo = (await client.getTools()).find(({ name }) => name === "echo");
  if (echo === undefined) throw new Error("the tool echo was not listed");
  return {
    call: (text) => echo.invoke({ text }),
    textOf: (result) => result,
    close: () => client.close(),
  };
}
