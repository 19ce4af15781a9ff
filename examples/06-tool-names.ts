// Public names are namespaced, valid for every model provider and never split to route a call.
import { createHost } from "plugboard";
import { buildMcpSkillName, isMcpTool, makeToolName, parseToolName } from "plugboard/tools";

const { server, tool } = parseToolName("mcp__filesystem__read_file");
console.log(server, tool);
console.log(makeToolName("filesystem", "read_file"));
console.log(isMcpTool("mcp__filesystem__read_file"), isMcpTool("native_tool"));

console.log(buildMcpSkillName("GitHub API", "list-repos"));
console.log(buildMcpSkillName("github", "list-repos"));
console.log(buildMcpSkillName("evil/../path", "../../etc"));

// The scheme is an option of the host, of a session or of one server.
await using host = await createHost({
  config: false,
  naming: "mcp_server_tool",
  servers: { slack: { command: "unused", naming: "prefix_tool" }, github: { command: "unused" } },
});
host.registerTools("slack", [{ name: "send_message", inputSchema: { type: "object" } }]);
host.registerTools("github", [{ name: "create_issue", inputSchema: { type: "object" } }]);
for (const { name } of host.session({ level: "yolo" }).tools()) console.log(name);

// Output:
// filesystem read_file
// mcp__filesystem__read_file
// true false
// mcp_github_api_list_repos
// mcp_github_list_repos
// mcp_evil_path_etc
// slack_send_message
// mcp_github_create_issue
