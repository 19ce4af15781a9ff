// What a model answers with, dispatched as it is: `input` stands for the arguments.
import { createHost } from "plugboard";
import { createMemoryServer, createRecordedServer } from "plugboard/testing";

const github = createRecordedServer({
  tools: [
    {
      name: "create_issue",
      inputSchema: {
        type: "object",
        properties: {
          repo: { type: "string" },
          title: { type: "string" },
          body: { type: "string" },
        },
        required: ["repo", "title"],
      },
    },
  ],
});
await using host = await createHost({
  config: false,
  naming: "mcp_server_tool",
  servers: { github: () => createMemoryServer(github).transport },
});
const session = host.session({ agent: "main", level: "yolo" });

const outcome = await session.dispatch({
  name: "mcp_github_create_issue",
  input: { repo: "owner/repo", title: "Bug Report", body: "Description of the bug" },
});
console.log(outcome.text);

const wrong = await session.dispatch({
  name: "mcp_github_create_issue",
  input: { repo: "owner/repo" },
});
console.log(wrong.ok || wrong.error.message);

// Output:
// {"repo":"owner/repo","title":"Bug Report","body":"Description of the bug"}
// create_issue: "title" is required (string)
