// Resources and prompts of a server.
const { createHost } = require("plugboard");
const { resourceContext } = require("plugboard/content");

async function main() {
  const host = await createHost({
    servers: {
      everything: { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] },
    },
  });
  const { content } = host.session({ agent: "main", level: "yolo" });
  const resources = await content.resources({ server: "everything" });
  const readme = resources.find(({ name }) => name === "architecture.md");
  const contents = await content.readResource("everything", readme.uri);
  console.log(resourceContext(readme, contents).split("\n").slice(0, 2).join(" | "));
  const prompts = await content.prompts({ server: "everything" });
  console.log(prompts.some(({ name }) => name === "simple-prompt"));
  const { messages } = await content.prompt("everything", "simple-prompt");
  console.log(messages[0].role, messages[0].content.text);
  await host.close();
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

// Output:
// --- MCP Resource: architecture.md --- | Server: everything
// true
// user This is a simple prompt without arguments.
