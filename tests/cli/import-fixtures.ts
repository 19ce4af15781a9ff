/** Files as other programs write them: with comments where the format has them, an unknown key and one broken entry. */
export interface SourceFixture {
  /** The word on the command line. */
  readonly source: string;
  /** The file, below the home of the user or the folder they work in. */
  readonly file: string;
  readonly in: "home" | "cwd";
  readonly text: string;
  /** Entries as they are written, without `importedFrom`. */
  readonly entries: Readonly<Record<string, unknown>>;
  /** Text that stands on stderr: what is lost, what is broken, which variables to export. */
  readonly told: readonly string[];
}

/** A value that looks like a token, which no file may hold after an import. */
export const canary = "canary-5f3a91c0d7e24b68";

export const sourceFixtures: readonly SourceFixture[] = [
  {
    source: "claude-desktop",
    file: ".config/Claude/claude_desktop_config.json",
    in: "home",
    text: `{
  "globalShortcut": "Alt+Space",
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "@acme/files", "/srv/data"] },
    "tracker": { "command": "docker", "args": ["run", "-i", "acme/tracker"], "env": { "TRACKER_TOKEN": "${canary}" }, "icon": "x.png" },
    "broken": { "args": ["nothing", "to", "run"] }
  }
}
`,
    entries: {
      files: { command: "npx", args: ["-y", "@acme/files", "/srv/data"] },
      tracker: {
        command: "docker",
        args: ["run", "-i", "acme/tracker"],
        env: { TRACKER_TOKEN: "${secret:entry/tracker/env.TRACKER_TOKEN}" },
      },
    },
    told: [
      'claude_desktop_config.json:5:133 — tracker: unknown key "icon"',
      'claude_desktop_config.json:6:5 — broken: needs "command" or "url"',
      'tracker: "env.TRACKER_TOKEN" is a secret: it is kept sealed, apart from the entry',
    ],
  },
  {
    source: "claude-code",
    file: ".claude.json",
    in: "home",
    text: `{
  "numStartups": 41,
  "mcpServers": {
    "search": { "type": "http", "url": "https://search.example.com/mcp", "headers": { "Authorization": "Bearer ${canary}" } },
    "paused": { "type": "stdio", "command": "paused-server", "args": ["--root", "\${HOME}"] }
  },
  "projects": {
    "CWD": {
      "history": [],
      "disabledMcpServers": ["paused"],
      "mcpServers": {
        "local": { "type": "stdio", "command": "node", "args": ["./tools/serve.js"], "timeout": 90000, "alwaysLoad": true, "color": 1 },
        "broken": { "type": "carrier-pigeon", "url": "https://broken.example.com" }
      }
    },
    "/somewhere/else": { "mcpServers": { "theirs": { "command": "other" } } }
  }
}
`,
    entries: {
      local: { command: "node", args: ["CWD/tools/serve.js"], callTimeout: 90 },
      search: {
        url: "https://search.example.com/mcp",
        headers: { Authorization: "Bearer ${secret:entry/search/headers.Authorization}" },
      },
      paused: {
        command: "paused-server",
        args: ["--root", "${HOME}"],
        expandArgs: true,
        enabled: false,
      },
    },
    told: [
      '.claude.json:12:104 — local: "alwaysLoad" has no counterpart here',
      '.claude.json:12:124 — local: unknown key "color"',
      ".claude.json:13:21 — broken: ",
      "theirs: it is for /somewhere/else: import it there",
      'search: "headers.Authorization" is a secret',
    ],
  },
  {
    source: "cursor",
    file: ".cursor/mcp.json",
    in: "home",
    text: `{
  // shared by all windows
  "mcpServers": {
    "db": { "command": "uvx", "args": ["db-server", "--dsn=\${env:DB_DSN}"], "env": { "DB_PASSWORD": "${canary}" } },
    "issues": { "url": "https://issues.example.com/sse", "auth": { "CLIENT_ID": "abc", "CLIENT_SECRET": "${canary}", "scopes": ["read"] } },
    "odd": { "command": "odd-server", "autoRun": true }, // theirs
    "broken": { "command": "x", "url": "https://example.com" },
  },
}
`,
    entries: {
      db: {
        command: "uvx",
        args: ["db-server", "--dsn=${env:DB_DSN}"],
        env: { DB_PASSWORD: "${secret:entry/db/env.DB_PASSWORD}" },
        expandArgs: true,
      },
      issues: {
        url: "https://issues.example.com/sse",
        auth: {
          type: "oauth",
          clientId: "abc",
          clientSecret: "${secret:entry/issues/auth.clientSecret}",
          scopes: ["read"],
        },
      },
      odd: { command: "odd-server" },
    },
    told: [
      'mcp.json:6:39 — odd: unknown key "autoRun"',
      "mcp.json:7:33 — broken: ",
      'db: "env.DB_PASSWORD" is a secret',
      'issues: "auth.clientSecret" is a secret',
    ],
  },
  {
    source: "vscode",
    file: ".vscode/mcp.json",
    in: "cwd",
    text: `{
  /* asked for once */
  "inputs": [
    { "type": "promptString", "id": "api-key", "description": "Key of the API", "password": true },
  ],
  "servers": {
    "api": {
      "type": "stdio",
      "command": "node",
      "args": ["\${workspaceFolder}/api.js", "\${env:REGION}"],
      "env": { "API_KEY": "\${input:api-key}", "RETRIES": 3, "UNUSED": null },
      "envFile": "\${workspaceFolder}/.env",
      "dev": { "watch": "*.ts" },
      "badge": "new",
    },
    "web": { "type": "http", "url": "https://web.example.com/mcp" },
    "broken": { "type": "stdio", "args": [] },
  },
}
`,
    entries: {
      api: {
        command: "node",
        args: ["${workspaceFolder}/api.js", "${env:REGION}"],
        env: { API_KEY: "${input:api-key}", RETRIES: "3" },
        envFile: "${workspaceFolder}/.env",
        expandArgs: true,
        inputs: [
          { id: "api-key", type: "promptString", description: "Key of the API", password: true },
        ],
      },
      web: { url: "https://web.example.com/mcp" },
    },
    told: [
      '.vscode/mcp.json:13:7 — api: "dev" has no counterpart here',
      '.vscode/mcp.json:14:7 — api: unknown key "badge"',
      '.vscode/mcp.json:17:5 — broken: "transport" is stdio, but "command" is missing',
    ],
  },
  {
    source: "codex",
    file: ".codex/config.toml",
    in: "home",
    text: `model = "some-model"
notes = """
[mcp_servers.quoted]
"""

# a local one
[mcp_servers.docs]
command = "npx"
args = ["-y", "@acme/docs"]
env_vars = ["DOCS_REGION", { name = "DOCS_ZONE", source = "local" }]
startup_timeout_sec = 20
tool_timeout_sec = 90.5
enabled_tools = ["search"]
supports_parallel_tool_calls = true
colour = "blue"

[mcp_servers.docs.env]
DOCS_KEY = "${canary}"

[mcp_servers."team api"] # over HTTP
url = "https://team.example.com/mcp"
bearer_token_env_var = "TEAM_TOKEN"
http_headers = { "X-Team" = "core" }
env_http_headers = { "X-Zone" = "TEAM_ZONE" }
enabled = false

[mcp_servers.broken]
args = ["no", "command"]
`,
    entries: {
      docs: {
        command: "npx",
        args: ["-y", "@acme/docs"],
        env: { DOCS_KEY: "${secret:entry/docs/env.DOCS_KEY}" },
        envPassthrough: ["DOCS_REGION", "DOCS_ZONE"],
        connectTimeout: 20,
        callTimeout: 90.5,
        enabledTools: ["search"],
      },
      "team api": {
        transport: "streamable-http",
        url: "https://team.example.com/mcp",
        headers: { "X-Team": "core", "X-Zone": "${TEAM_ZONE}" },
        auth: { type: "bearer", token: "${TEAM_TOKEN}" },
        enabled: false,
      },
    },
    told: [
      'config.toml:14:1 — docs: "supports_parallel_tool_calls" has no counterpart here',
      'config.toml:15:1 — docs: unknown key "colour"',
      'config.toml:27:1 — broken: needs "command" or "url"',
      'docs: "env.DOCS_KEY" is a secret',
    ],
  },
  {
    source: "windsurf",
    file: ".codeium/windsurf/mcp_config.json",
    in: "home",
    text: `{
  "mcpServers": {
    "figures": { "serverUrl": "https://figures.example.com/mcp", "headers": { "X-Api-Key": "${canary}" }, "disabledTools": ["delete"] },
    "notes": { "command": "notes-server", "args": [], "disabled": true, "alwaysAllow": ["read"] },
    "broken": "npx notes"
  }
}
`,
    entries: {
      figures: {
        url: "https://figures.example.com/mcp",
        headers: { "X-Api-Key": "${secret:entry/figures/headers.X-Api-Key}" },
        disabledTools: ["delete"],
      },
      notes: { command: "notes-server", enabled: false },
    },
    told: [
      'mcp_config.json:4:73 — notes: unknown key "alwaysAllow"',
      "mcp_config.json:5:5 — broken: a server must be an object",
      'figures: "headers.X-Api-Key" is a secret',
    ],
  },
  {
    source: "gemini",
    file: ".gemini/settings.json",
    in: "home",
    text: `{
  "theme": "Dracula", // as ever
  "mcp": { "excluded": ["quiet"] },
  "mcpServers": {
    "cloud": {
      "httpUrl": "https://cloud.example.com/mcp",
      "headers": { "X-Project": "$CLOUD_PROJECT", "Authorization": "Bearer ${canary}" },
      "timeout": 5000,
      "trust": true,
      "includeTools": ["deploy"],
      "emoji": "none"
    },
    "quiet": { "command": "quiet-server", "env": { "MODE": "$QUIET_MODE" } },
    "broken": { "command": "x", "timeout": "soon" }
  }
}
`,
    entries: {
      cloud: {
        transport: "streamable-http",
        url: "https://cloud.example.com/mcp",
        headers: {
          "X-Project": "${CLOUD_PROJECT}",
          Authorization: "Bearer ${secret:entry/cloud/headers.Authorization}",
        },
        timeout: 5,
        enabledTools: ["deploy"],
      },
      quiet: { command: "quiet-server", env: { MODE: "${QUIET_MODE}" }, enabled: false },
    },
    told: [
      'settings.json:9:7 — cloud: "trust" is not taken over',
      'settings.json:11:7 — cloud: unknown key "emoji"',
      "settings.json:14:33 — broken: ",
      'cloud: "headers.Authorization" is a secret',
    ],
  },
  {
    source: "opencode",
    file: "opencode.jsonc",
    in: "cwd",
    text: `{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    // a process
    "local": {
      "type": "local",
      "command": ["bun", "x", "server", "--region", "{env:REGION}"],
      "environment": { "SERVER_TOKEN": "${canary}", "CERT": "{file:./cert.pem}" },
      "enabled": false,
      "timeout": 8000,
      "nickname": "l",
    },
    "remote": { "type": "remote", "url": "https://remote.example.com/mcp", "oauth": false },
    "broken": { "type": "local", "command": [] },
  },
}
`,
    entries: {
      local: {
        command: "bun",
        args: ["x", "server", "--region", "${env:REGION}"],
        env: { SERVER_TOKEN: "${SERVER_TOKEN}", CERT: "${file:./cert.pem}" },
        expandArgs: true,
        enabled: false,
        connectTimeout: 8,
      },
      remote: { url: "https://remote.example.com/mcp" },
    },
    told: [
      'opencode.jsonc:11:7 — local: unknown key "nickname"',
      'local: "env.CERT" holds "${file:…}"',
      'opencode.jsonc:14:34 — broken: "command" must not be empty',
      "so export SERVER_TOKEN",
    ],
  },
  {
    source: "nexus3",
    file: ".nexus3/mcp.json",
    in: "home",
    text: `{
  "servers": {
    // started with the agent
    "calc": { "command": ["python", "-m", "calc"], "env_passthrough": ["CALC_MODE"], "enabled": true },
    "vault": { "url": "https://vault.example.com/mcp?api_key=${canary}", "colour": "red" },
    "broken": { "command": [] }
  }
}
`,
    entries: {
      calc: { command: "python", args: ["-m", "calc"], envPassthrough: ["CALC_MODE"] },
      vault: { url: "https://vault.example.com/mcp?api_key=${secret:entry/vault/url}" },
    },
    told: [
      'mcp.json:5:88 — vault: unknown key "colour"',
      'mcp.json:6:17 — broken: "command" must not be empty',
      'vault: "url" is a secret',
    ],
  },
];
