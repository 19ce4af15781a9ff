import { describe, expect, it } from "vitest";

import { revealAll } from "../text/secrets/secret-text.ts";
import type { McpServerConfig } from "./keys/config-keys.ts";
import type { ServerConfig } from "./keys/server-config.ts";
import { parseConfig, parseServers } from "./parse/parse-config.ts";

function parseClean(input: unknown): readonly ServerConfig[] {
  const { servers, problems } = parseConfig(input, { baseDir: "/project" });
  expect(problems).toEqual([]);
  return servers;
}

describe("shapes that published configurations have", () => {
  it("DOC-04 example 1: a package runner with a token from the environment", () => {
    const [server] = parseClean({
      servers: {
        tracker: {
          command: ["npx", "-y", "@acme/mcp-tracker"],
          env: { TRACKER_TOKEN: "${TRACKER_TOKEN}" },
        },
      },
    });
    expect(server?.transport).toMatchObject({
      kind: "stdio",
      command: "npx",
      args: ["-y", "@acme/mcp-tracker"],
      env: { TRACKER_TOKEN: "${TRACKER_TOKEN}" },
    });
  });

  it("DOC-04 example 2: folders as arguments", () => {
    const [server] = parseClean({
      servers: {
        files: { command: ["npx", "-y", "@acme/mcp-files", "/home/me/work", "/home/me/docs"] },
      },
    });
    expect(server?.transport).toMatchObject({
      args: ["-y", "@acme/mcp-files", "/home/me/work", "/home/me/docs"],
    });
  });

  it("DOC-04 example 3: a module with a folder, a variable and names passed through", () => {
    const [server] = parseClean({
      servers: {
        own: {
          command: ["python", "-m", "own_server"],
          cwd: "/srv/own",
          env: { DATABASE_URL: "postgresql://localhost/db" },
          env_passthrough: ["HOME", "USER"],
        },
      },
    });
    expect(revealAll(server?.transport)).toMatchObject({
      cwd: "/srv/own",
      envPassthrough: ["HOME", "USER"],
      env: { DATABASE_URL: "postgresql://localhost/db" },
    });
  });

  it("DOC-04 example 4: a remote server", () => {
    const [server] = parseClean({
      servers: { remote: { url: "https://mcp.example.com/api", enabled: true } },
    });
    expect(server).toMatchObject({ enabled: true, transport: { kind: "http" } });
  });

  it("DOC-04 example 5: several servers, one of them switched off", () => {
    const run = (name: string): readonly string[] => ["npx", "-y", `@acme/mcp-${name}`];
    const servers = parseClean({
      servers: {
        code: { command: run("code"), env: { TOKEN: "${CODE_TOKEN}" }, enabled: true },
        chat: { command: run("chat"), env: { TOKEN: "${CHAT_TOKEN}" }, enabled: false },
        data: { command: [...run("data"), "/data/my.sqlite"], enabled: true },
      },
    });
    expect(servers.map(({ name, enabled }) => [name, enabled])).toEqual([
      ["code", true],
      ["chat", false],
      ["data", true],
    ]);
  });

  it("DOC-04 example 6: variables, a default and plain text", () => {
    const env = {
      API_KEY: "${MY_KEY}",
      BASE_URL: "${BASE_URL:-https://default.example.com}",
      DEBUG: "false",
    };
    const [server] = parseClean({ servers: { api: { command: ["my-server"], env } } });
    expect(revealAll(server?.transport)).toMatchObject({ command: "my-server", args: [], env });
  });

  it.each(["/mnt/d/engine", "D:/engine"])(
    "DOC-04 example 7: a Windows program under %s",
    (root) => {
      const [server] = parseClean({
        servers: {
          bridge: {
            command: [
              `${root}/Scripts/python.exe`,
              "-m",
              "mcp",
              "--host",
              "localhost",
              "--port",
              "10001",
            ],
            cwd: `${root}/Plugins/Bridge`,
            env: { API_PATH: `${root}/Content/API` },
            enabled: true,
          },
        },
      });
      expect(revealAll(server?.transport)).toMatchObject({
        command: `${root}/Scripts/python.exe`,
        cwd: `${root}/Plugins/Bridge`,
        env: { API_PATH: `${root}/Content/API` },
      });
    },
  );

  it("CFG-20 LIM-13: a file of another host with command and args", () => {
    const [server] = parseClean({
      mcpServers: {
        bridge: { type: "stdio", command: "python.exe", args: ["-m", "mcp"], env: {} },
      },
    });
    expect(server?.transport).toMatchObject({ command: "python.exe", args: ["-m", "mcp"] });
  });

  it("CFG-22 CFG-23: objects with name, transport, timeout in seconds", () => {
    const servers = parseClean([
      {
        name: "files",
        transport: "stdio",
        command: "npx",
        args: ["-y", "@acme/mcp-files", "/data"],
        env: { NODE_ENV: "production" },
        timeout: 30.0,
      },
      {
        name: "remote-tools",
        transport: "sse",
        url: "https://tools.internal:8443/mcp",
        headers: { Authorization: "Bearer token-x" },
        timeout: 30.0,
      },
    ]);
    expect(servers.map(({ transport, callTimeoutMs }) => [transport.kind, callTimeoutMs])).toEqual([
      ["stdio", 30_000],
      ["sse", 30_000],
    ]);
  });

  it.each([
    [undefined, { type: "none" }],
    [
      { type: "bearer", token: "your-api-token" },
      { type: "bearer", token: "your-api-token" },
    ],
    [
      {
        type: "oauth",
        clientId: "your-client-id",
        authUrl: "https://service.example.com/oauth/authorize",
        tokenUrl: "https://service.example.com/oauth/token",
      },
      expect.objectContaining({ type: "oauth", clientId: "your-client-id" }),
    ],
  ])("CFG-26 CFG-27 CFG-28: one server per object, auth %j", (auth, expected) => {
    const [server] = parseClean({
      name: "api-server",
      url: "http://localhost:3000",
      transport: "http",
      ...(auth === undefined ? {} : { auth }),
    });
    expect(server).toMatchObject({ name: "api-server", transport: { kind: "http" } });
    expect(revealAll(server?.auth)).toEqual(expected);
  });

  it("CFG-29 CFG-33 CFG-34 CFG-36 CFG-38: typed descriptors with filters and times of their own", () => {
    const servers = parseClean([
      {
        name: "github",
        transport: { kind: "stdio", command: "npx", args: ["-y", "@acme/mcp-github"] },
        env: { GITHUB_TOKEN: "${GITHUB_TOKEN}" },
        enabled_tools: ["create_issue", "list_issues", "get_issue"],
        disabled_tools: ["delete_repo"],
      },
      {
        name: "remote",
        transport: {
          kind: "streamable-http",
          url: "https://mcp.example.com/v1",
          headers: { Authorization: "Bearer ${API_KEY}" },
        },
        timeout: 60.0,
      },
    ]);
    expect(servers.map((server) => server.name)).toEqual(["github", "remote"]);
    expect(servers[0]).toMatchObject({
      enabledTools: ["create_issue", "list_issues", "get_issue"],
      disabledTools: ["delete_repo"],
    });
    expect(servers[1]).toMatchObject({ callTimeoutMs: 60_000, transport: { method: "POST" } });
  });

  it("CFG-21 CFG-45: entries in code are checked by the compiler against the same table", () => {
    const entries: readonly McpServerConfig[] = [
      { name: "files", command: ["npx", "-y", "pkg"], timeout: 30, enabledTools: ["read"] },
      { name: "github", transport: { kind: "stdio", command: "npx", args: ["-y"] }, cwd: null },
      { name: "remote", url: "https://h.example", auth: { type: "bearer", token: "${T}" } },
      // @ts-expect-error -- a misspelt choice does not compile
      { name: "odd", command: "x", start: "later" },
      // @ts-expect-error -- nor does an unknown key
      { name: "odd", command: "x", comand: "y" },
    ];
    expect(parseServers(entries.slice(0, 3)).map((server) => server.name)).toEqual([
      "files",
      "github",
      "remote",
    ]);
  });
});
