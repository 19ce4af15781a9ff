import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../../..");
const demo = path.join(root, "dist/testing/run-stdio.js");

/** What people do wrong with a configuration, or have done to them, and what a good answer tells them. */
export interface FailureCase {
  readonly title: string;
  /** Where the configuration lies, as its host has it. */
  readonly file?: string;
  /** The text of the file, or the entry of the server `notes` in it. */
  readonly config: string | ((place: Place) => object);
  readonly env?: Readonly<Record<string, string>>;
  /** What ours has to name. */
  readonly cause: RegExp;
  /** What ours tells the person to do; nothing where the case is no failure. */
  readonly next: RegExp | undefined;
}

/** What the cases find on the machine. */
export interface Place {
  /** Answers by the path: `/404/mcp`, `/401/mcp`, `/html/mcp`; also the registry of npm that has no package. */
  readonly http: string;
  /** Nobody listens there. */
  readonly closed: string;
}

export async function openPlace(): Promise<Place & AsyncDisposable> {
  const server = createServer((request, response) => answer(request.url ?? "", response));
  const gone = createServer();
  const [http, closed] = [await listen(server), await listen(gone)];
  await new Promise((resolve) => gone.close(resolve));
  return {
    http,
    closed,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(url: string, response: ServerResponse): void {
  if (url.startsWith("/401")) return void response.writeHead(401).end("who are you?");
  const page = "<!doctype html><title>Welcome</title><h1>Welcome</h1>";
  if (url.startsWith("/html"))
    return void response.writeHead(200, { "content-type": "text/html" }).end(page);
  response.writeHead(404, { "content-type": "application/json" }).end('{"error":"Not found"}');
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const script = (code: string) => ({ command: "node", args: ["-e", code] });

/** What lies beside the configuration. */
export const serverFile = `process.argv[2] = "demo"; await import(${JSON.stringify(demo)});\n`;

export const failureCases: readonly FailureCase[] = [
  {
    title: "broken JSON",
    config: '{\n  "mcpServers": {\n    "notes": { "command": "node" "args": [] }\n  }\n}\n',
    cause: /mcp\.json:3:\d+.*","/,
    next: /mcp\.json:3/,
  },
  {
    title: "unknown key",
    config: () => ({ comand: "node", args: ["server.mjs"] }),
    cause: /"comand"/,
    next: /Did you mean "command"/,
  },
  {
    title: "missing variable",
    // oxlint-disable-next-line no-template-curly-in-string -- as it stands in the file
    config: () => ({ command: "node", args: ["server.mjs"], env: { API_KEY: "${NO_SUCH_KEY}" } }),
    cause: /NO_SUCH_KEY\} is not set/,
    next: /try: .*export/,
  },
  {
    title: "typo in the command",
    config: () => ({ command: "npxx", args: ["-y", "server"] }),
    cause: /command not found: "npxx"/,
    next: /try: .*`command`/,
  },
  {
    title: "typo in the package",
    config: ({ http }) => ({
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-filesytem", "."],
      env: { npm_config_registry: `${http}/registry/` },
    }),
    cause: /did not find a package "@modelcontextprotocol\/server-filesytem" \(404\)/,
    next: /try {2,}correct the name of the package/,
  },
  {
    title: "throws at its start",
    config: () => script('throw new Error("DATABASE_URL must be set")'),
    cause: /DATABASE_URL must be set/,
    next: /try {2,}set DATABASE_URL/,
  },
  {
    title: "junk before MCP",
    config: () =>
      script(
        `console.log("listening …"); process.argv[1] = "demo"; import(${JSON.stringify(demo)})`,
      ),
    cause: /listening …/,
    next: undefined,
  },
  {
    title: "nothing but junk",
    config: () => script('console.log("Welcome to notes!"); process.stdin.resume()'),
    cause: /Welcome to notes!/,
    next: /try/,
  },
  {
    title: "HTTP 404",
    config: ({ http }) => ({ url: `${http}/404/mcp` }),
    cause: /404/,
    next: /try/,
  },
  {
    title: "HTTP 401 without auth",
    config: ({ http }) => ({ type: "http", url: `${http}/401/mcp` }),
    cause: /sign-in needed \(HTTP 401\)/,
    next: /try/,
  },
  {
    title: "HTTP 401 with a token",
    config: ({ http }) => ({
      type: "http",
      url: `${http}/401/mcp`,
      headers: { Authorization: "Bearer wrong-token-77" },
    }),
    cause: /refused \(HTTP 401\)/,
    next: /try/,
  },
  {
    title: "HTTP 401 with OAuth",
    config: ({ http }) => ({ type: "http", url: `${http}/401/mcp`, auth: { type: "oauth" } }),
    cause: /sign-in needed \(HTTP 401\)/,
    next: /try/,
  },
  {
    title: "a page of HTML",
    config: ({ http }) => ({ url: `${http}/html/mcp` }),
    cause: /text\/html/,
    next: /try/,
  },
  {
    title: "a closed port",
    config: ({ closed }) => ({ url: `${closed}/mcp` }),
    cause: /connection refused/,
    next: /try/,
  },
  {
    title: "TLS to a port without it",
    config: ({ http }) => ({ url: `${http.replace("http:", "https:")}/mcp` }),
    cause: /TLS/,
    next: /http:\/\//,
  },
  {
    title: "file of VS Code",
    file: ".vscode/mcp.json",
    config: JSON.stringify(
      {
        inputs: [{ type: "promptString", id: "token", description: "API token", password: true }],
        servers: {
          notes: {
            type: "stdio",
            command: "node",
            // oxlint-disable-next-line no-template-curly-in-string -- as it stands in the file
            args: ["${workspaceFolder}/server.mjs"],
            // oxlint-disable-next-line no-template-curly-in-string -- as it stands in the file
            env: { API_TOKEN: "${input:token}" },
          },
        },
      },
      undefined,
      2,
    ),
    cause: /input:token/,
    next: /try: name a variable/,
  },
  {
    title: "file of Cursor",
    file: ".cursor/mcp.json",
    config: () => ({
      command: "node",
      // oxlint-disable-next-line no-template-curly-in-string -- as it stands in the file
      args: ["${workspaceFolder}/server.mjs"],
      // oxlint-disable-next-line no-template-curly-in-string -- as it stands in the file
      env: { NOTES_TOKEN: "${env:NOTES_TOKEN}" },
    }),
    env: { NOTES_TOKEN: "none" },
    cause: /tools/,
    next: undefined,
  },
  {
    title: "file of Claude Desktop",
    file: "claude_desktop_config.json",
    config: JSON.stringify(
      { globalShortcut: "", mcpServers: { notes: { command: "node", args: [demo, "demo"] } } },
      undefined,
      2,
    ),
    cause: /tools/,
    next: undefined,
  },
];
