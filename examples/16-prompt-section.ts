// Servers as a section of a prompt: their tools, and a text that tells the model about them.
import { createHost, McpConnectionError, type McpServerConfig } from "plugboard";
import { PromptTemplate } from "plugboard/prompts";
import {
  createDemoServer,
  createMemoryServer,
  createRecordedServer,
  testServerEntry,
} from "plugboard/testing";

const tool = (name: string, description: string) => ({
  name,
  description,
  inputSchema: { type: "object" },
});
const github = createRecordedServer({
  tools: [
    tool("create_issue", "Create a new issue in a repository"),
    tool("list_issues", "List issues with optional filters"),
    tool("get_issue", "Get details of a specific issue"),
  ],
});
await using host = await createHost({
  config: false,
  naming: "prefix_tool",
  servers: {
    github: () => createMemoryServer(github).transport,
    demo: () => createMemoryServer(createDemoServer()).transport,
  },
});
const session = host.session({ agent: "main", level: "yolo" });

// One server, brought along by the section. `await using` disconnects it.
const files: McpServerConfig = {
  name: "files",
  transport: { kind: "stdio", ...testServerEntry() },
  enabledTools: ["echo", "add"], // Only these
  disabledTools: ["add"], // Never this one
};
{
  await using section = await session.section({ servers: [files] }).open();
  const prompt = new PromptTemplate({ ns: "demo", key: "mcp", sections: [section] });
  console.log(prompt.tools().map(({ name }) => name));
}
console.log(`afterwards it is ${host.server("files").state}`);

// Several servers, with their secrets in `env`. Nothing starts before `connect()`.
const many = session.section({
  servers: [
    {
      name: "brave",
      transport: {
        kind: "stdio",
        command: "npx",
        args: ["-y", "@anthropic/mcp-server-brave-search"],
      },
      env: { BRAVE_API_KEY: "${BRAVE_API_KEY}" },
    },
    {
      name: "remote",
      transport: {
        kind: "streamable-http",
        url: "https://mcp.example.com/v1",
        headers: { Authorization: "Bearer ${API_KEY}" },
      },
      timeout: 60,
    },
  ],
});
console.log(many.connected);
try {
  many.tools();
} catch (error) {
  if (error instanceof McpConnectionError) console.log(error.message);
}

// Connected at once, and by hand; a server that is connected stays so for whoever needs it.
const eager = session.section({ servers: ["github"], connectOnInit: true });
await eager.ready;
console.log(eager.render());
const lazy = session.section({ key: "mcp.lazy", servers: ["github"] });
await lazy.connect();
console.log(lazy.tools().length, "tools");
await lazy.disconnect();
console.log(eager.connected);

// A text of one's own, here with a variable of one's own.
const custom = session.section({
  servers: ["github", files],
  template: `
    External integrations are available. Use the GitHub tools to manage
    issues of \${repository}.

    Available servers: \${server_names}
    Total tools: \${tool_count}
    `,
  params: ["repository"],
});
await custom.connect();
const prompt = new PromptTemplate({
  ns: "demo",
  key: "triage",
  sections: [{ key: "task", title: "Task", template: "Triage new issues." }, custom],
});
console.log(prompt.render({ repository: "plugboard" }));

// The same section for another agent: one connection, but its own rights, consent and events.
await using clone = await custom.clone(host.session({ agent: "helper", level: "yolo" })).open();
for (const { name } of clone.tools()) console.log(name);

// Prompts of a server are templates, too: their arguments are checked before anything is sent.
const greeting = await session.promptTemplate("demo", "greeting");
console.log(greeting.arguments.map(({ name, isRequired }) => ({ name, isRequired })));
console.log(await greeting.render({ name: "Ada" }));

// Output:
// [ 'files_echo' ]
// afterwards it is idle
// false
// the section "mcp.integrations" is not connected
// ## MCP Integrations
//
// The following external tools are available via MCP:
//
// ### github
//
// - `github_create_issue` - Create a new issue in a repository
// - `github_list_issues` - List issues with optional filters
// - `github_get_issue` - Get details of a specific issue
// 3 tools
// true
// ## Task
//
// Triage new issues.
//
// ## MCP Integrations
//
// External integrations are available. Use the GitHub tools to manage
// issues of plugboard.
//
// Available servers: github, files
// Total tools: 4
// github_create_issue
// github_list_issues
// github_get_issue
// files_echo
// [ { name: 'name', isRequired: true } ]
// Say hello to Ada in one warm sentence.
