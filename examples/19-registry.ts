// Many servers, many agents: who sees which server, over whose connection.
import { createHost } from "plugboard";
import { createMemoryServer, createRecordedServer } from "plugboard/testing";
import { toSkillResult } from "plugboard/tools";

const github = createRecordedServer({
  tools: [
    {
      name: "list_repos",
      description: "Lists repositories",
      inputSchema: { type: "object", properties: { owner: { type: "string" } } },
    },
  ],
});
const entry = () => createMemoryServer(github).transport;
const host = await createHost({
  config: false,
  naming: "mcp_server_tool",
  servers: { github: entry, notes: entry },
});

// One agent shares its connection with everybody, and keeps another one for itself.
await host.connect("github", { owner: "main", shared: true, timeoutMs: 30_000 });
await host.connect("notes", { owner: "main" });
const main = host.session({ agent: "main", level: "yolo" });
const worker = host.session({ agent: "worker", level: "yolo" });
console.log(main.servers(), worker.servers());

// A skill is a tool under its public name.
const skill = worker.find("mcp_github_list_repos");
console.log(skill?.name, skill?.originalName, skill?.serverName);
const outcome = await skill?.execute({ owner: "octocat" });
console.log(outcome && toSkillResult(outcome));
console.log(worker.find("mcp_notes_list_repos"));

// All skills of an agent, in a registry of the program's own.
const skills = new Map(main.tools().map((tool) => [tool.name, tool]));
console.log([...skills.keys()]);

// The health check removes what is dead; only who holds a server may end it.
console.log(await host.checkConnections());
await host
  .disconnect("github", { owner: "worker" })
  .catch((error: Error) => console.log(error.message));
await host.disconnect("github", { owner: "main" });
console.log(host.server("github").state);
await host.close();

// Output:
// [ 'github', 'notes' ] [ 'github' ]
// mcp_github_list_repos list_repos github
// { output: '{"owner":"octocat"}', error: null }
// undefined
// [ 'mcp_github_list_repos', 'mcp_notes_list_repos' ]
// []
// "github" is shared by main, who alone may end it
// idle
