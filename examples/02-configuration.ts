// Every shape a configuration may have, from the files of other hosts to objects in code. Parsing
// starts nothing: a server is launched when it is first needed.
import { parseConfig } from "plugboard/config";

const shapes: Record<string, unknown> = {
  "package runner": {
    servers: {
      github: {
        command: ["npx", "-y", "@modelcontextprotocol/server-github"],
        env: { GITHUB_TOKEN: "${GITHUB_TOKEN}" },
      },
    },
  },
  "allowed paths": {
    servers: {
      filesystem: {
        command: ["npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/user/projects"],
      },
    },
  },
  "working directory": {
    servers: {
      custom: {
        command: ["python", "-m", "my_mcp_server"],
        cwd: "/path/to/server",
        env: { DATABASE_URL: "postgresql://localhost/mydb" },
        env_passthrough: ["HOME", "USER"],
      },
    },
  },
  remote: { servers: { remote_api: { url: "https://mcp.example.com/api", enabled: true } } },
  "several states": {
    servers: {
      github: { command: ["npx", "-y", "@modelcontextprotocol/server-github"], enabled: true },
      slack: { command: ["npx", "-y", "@modelcontextprotocol/server-slack"], enabled: false },
    },
  },
  variables: {
    servers: {
      api: {
        command: ["my-mcp-server"],
        env: {
          API_KEY: "${MY_API_KEY}",
          BASE_URL: "${API_BASE_URL:-https://default.example.com}",
          DEBUG: "false",
        },
      },
    },
  },
  "Windows paths": {
    servers: {
      agentbridge: {
        command: ["D:/tempo/Scripts/python.exe", "-m", "mcp", "--port", "10001"],
        cwd: "D:/tempo/Plugins/AgentBridge",
      },
    },
  },
  "mcpServers of other hosts": {
    mcpServers: {
      files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem"] },
    },
  },
  "a list of objects": [
    {
      name: "remote-tools",
      transport: "sse",
      url: "https://tools.example.com/mcp",
      headers: { Authorization: "Bearer ${TOOLS_TOKEN}" },
      timeout: 30.0,
    },
  ],
  "one object": {
    name: "api-server",
    url: "https://api.example.com",
    transport: "http",
    auth: { type: "bearer", token: "${API_TOKEN}" },
  },
  "a nested transport": [
    {
      name: "github",
      transport: {
        kind: "stdio",
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-github"],
      },
      enabled_tools: ["create_issue", "list_issues", "get_issue"],
      disabled_tools: ["delete_repo"],
    },
  ],
};

for (const [title, shape] of Object.entries(shapes)) {
  const { servers, problems } = parseConfig(shape);
  const list = servers.map(
    ({ name, transport, enabled }) => `${name} (${transport.kind}${enabled ? "" : ", off"})`,
  );
  console.log(`${title}: ${list.join(", ")}${problems.length > 0 ? " PROBLEMS" : ""}`);
}

// Output:
// package runner: github (stdio)
// allowed paths: filesystem (stdio)
// working directory: custom (stdio)
// remote: remote_api (http)
// several states: github (stdio), slack (stdio, off)
// variables: api (stdio)
// Windows paths: agentbridge (stdio)
// mcpServers of other hosts: files (stdio)
// a list of objects: remote-tools (sse)
// one object: api-server (http)
// a nested transport: github (stdio)
