import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";

import { onTestFinished } from "vitest";

import {
  type AuthorizationServerOptions,
  createTestServer,
  serveProtected,
  type ServeProtectedOptions,
  startAuthorizationServer,
} from "../../src/testing/index.ts";
import { hasOpenssl, startSelfSigned } from "../fixtures/network/self-signed.ts";
import { DatabaseSync } from "../fixtures/store/database-sync.ts";
import { type CliSandbox, demoEntry, nobody, type RunOptions, runsAsNobody } from "./run-cli.ts";

/** One way in which a command fails. */
export interface ErrorCase {
  readonly words: readonly string[];
  readonly code: string;
  readonly exitCode: number;
  /** Prepares the place, and gives what the command needs beside its words. */
  readonly arrange?: (sandbox: CliSandbox) => Promise<RunOptions | void> | RunOptions | void;
  readonly isSkipped?: boolean;
  /** It takes seconds in which nothing is done. */
  readonly waits?: true;
}

const fixture = (file: string): string =>
  path.resolve(import.meta.dirname, "../fixtures/servers", file);
const script = (code: string, entry: object = {}) => ({
  command: "node",
  args: ["-e", code],
  ...entry,
});
const misbehaving = { command: "node", args: [fixture("misbehaving-server.mjs")] };

type Arrange = NonNullable<ErrorCase["arrange"]>;

const withServer =
  (name: string, entry: object): Arrange =>
  (sandbox) =>
    void sandbox.configureUser({ [name]: entry });

const withFile =
  (text: string): Arrange =>
  (sandbox) => {
    mkdirSync(path.join(sandbox.cwd, ".plugboard"));
    writeFileSync(path.join(sandbox.cwd, ".plugboard/mcp.json"), text);
  };

/** A server at an address of its own, for one test; `api` in the configuration. */
const withHttp =
  (answer: RequestListener, entry: object = {}): Arrange =>
  async (sandbox) => {
    const server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    sandbox.configureUser({ api: { url: `http://127.0.0.1:${port}/mcp`, ...entry } });
  };

const answering = (status: number, body = "", type = "text/plain"): RequestListener =>
  ((_request, response) =>
    response.writeHead(status, { "content-type": type }).end(body)) satisfies RequestListener;

const asStreamable = { transport: "streamable-http" };
const page = "<!doctype html><html><title>Welcome \u001B[2J</title><h1>Hi</h1></html>";

/** The path of a store that is no database. */
function brokenStore(sandbox: CliSandbox): RunOptions {
  const file = path.join(sandbox.home, "broken.db");
  writeFileSync(file, "this is no database at all".repeat(100), { mode: 0o600 });
  return { env: { PLUGBOARD_DB: file } };
}

function readOnlyStore(sandbox: CliSandbox): RunOptions {
  const folder = path.join(sandbox.home, "closed");
  mkdirSync(folder);
  const env = { PLUGBOARD_DB: path.join(folder, "plugboard.db") };
  // Whoever is root may write everywhere.
  if (process.getuid?.() === 0) {
    sandbox.giveTo(nobody);
    return { env, uid: nobody };
  }
  chmodSync(folder, 0o500);
  onTestFinished(() => chmodSync(folder, 0o700));
  return { env };
}

/** A store that another process is writing to and does not let go of. */
async function lockedStore(sandbox: CliSandbox): Promise<RunOptions> {
  const file = path.join(sandbox.home, "locked.db");
  const env = { PLUGBOARD_DB: file };
  await sandbox.run(["consent", "allow", "demo"], { env });
  const database = new DatabaseSync(file);
  database.exec("BEGIN EXCLUSIVE");
  onTestFinished(() => database.close());
  return { env };
}

/** `app` in the configuration: a server that wants tokens of an authorization server. */
const withProtected =
  (
    auth: object,
    authorization: AuthorizationServerOptions = {},
    options: Omit<ServeProtectedOptions, "authorization"> = {},
  ): Arrange =>
  async (sandbox) => {
    const issuer = await startAuthorizationServer(authorization);
    const server = await serveProtected(createTestServer(), { authorization: issuer, ...options });
    onTestFinished(async () => {
      await server.close();
      await issuer.close();
    });
    sandbox.configureUser({ app: { url: server.url, auth: { type: "oauth", ...auth } } });
  };

/** How a program signs in by itself, and the server that knows it. */
const program = { grant: "client_credentials", clientId: "robot", clientSecret: "${ROBOT_SECRET}" };
const knowingRobot: AuthorizationServerOptions = {
  grants: ["client_credentials"],
  clients: [{ clientId: "robot", clientSecret: "robot-secret" }],
};
const robotSecret = { env: { ROBOT_SECRET: "robot-secret" } };

/** Gives `api` a token that somebody had. */
async function giveToken(sandbox: CliSandbox, options: RunOptions = {}): Promise<void> {
  await sandbox.run(["login", "api", "--token", "-"], { ...options, input: "token-of-somebody" });
}

export const errorCases: Readonly<Record<string, ErrorCase>> = {
  "crash at start": {
    words: ["test", "files"],
    code: "start_exit",
    exitCode: 4,
    arrange: withServer(
      "files",
      script(
        `console.error("Error: ENOENT: no such file or directory, stat './x'"); process.exit(1)`,
      ),
    ),
  },
  "crash at start, told by nobody": {
    words: ["test", "files"],
    code: "start_exit",
    exitCode: 4,
    arrange: withServer("files", script("process.exit(3)")),
  },
  "command not found": {
    words: ["test", "files"],
    code: "command_not_found",
    exitCode: 4,
    arrange: withServer("files", { command: "npxx", args: ["-y", "x"] }),
  },
  "port refused": {
    words: ["test", "api"],
    code: "unreachable",
    exitCode: 4,
    arrange: async (sandbox) => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      await new Promise((resolve) => server.close(resolve));
      sandbox.configureUser({ api: { url: `http://127.0.0.1:${port}/mcp` } });
    },
  },
  "bare 401": {
    words: ["test", "api"],
    code: "auth_required",
    exitCode: 3,
    arrange: withHttp(answering(401, "nope")),
  },
  "401 of a server that says where to sign in": {
    words: ["test", "app"],
    code: "auth_required",
    exitCode: 3,
    arrange: withProtected({}),
  },
  "a token that is refused": {
    words: ["test", "api"],
    code: "auth_required",
    exitCode: 3,
    arrange: async (sandbox) => {
      await withHttp(answering(401))(sandbox);
      await giveToken(sandbox);
    },
  },
  "a sign-in that fails": {
    words: ["login", "app"],
    code: "auth_failed",
    exitCode: 3,
    arrange: withProtected({}, { pkce: "plain" }),
  },
  "a redirect address that is refused": {
    words: ["login", "app"],
    code: "auth_redirect_mismatch",
    exitCode: 3,
    arrange: withProtected({ redirectUri: "http://apps.example.com/callback" }),
  },
  "a client that is refused": {
    words: ["login", "app"],
    code: "auth_client_rejected",
    exitCode: 3,
    arrange: async (sandbox) => {
      await withProtected(program, knowingRobot)(sandbox);
      return { env: { ROBOT_SECRET: "another-secret" } };
    },
  },
  "a token endpoint that does not answer": {
    words: ["login", "app"],
    code: "auth_endpoint_unreachable",
    exitCode: 3,
    arrange: async (sandbox) => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      await new Promise((resolve) => server.close(resolve));
      const tokenUrl = `http://127.0.0.1:${port}/token`;
      await withProtected({ ...program, tokenUrl })(sandbox);
      return robotSecret;
    },
  },
  "a tool that needs more than was granted": {
    words: ["call", "app.echo", "message=hello"],
    code: "auth_scope_missing",
    exitCode: 3,
    arrange: async (sandbox) => {
      await withProtected(
        { ...program, scopes: ["mcp"] },
        { ...knowingRobot, scopes: ["mcp", "files"] },
        { toolScopes: { echo: ["files"] } },
      )(sandbox);
      return robotSecret;
    },
  },
  "access that is refused": {
    words: ["test", "api"],
    code: "auth_denied",
    exitCode: 3,
    arrange: async (sandbox) => {
      await withHttp(answering(403))(sandbox);
      await giveToken(sandbox);
    },
  },
  "a vault whose key is not here": {
    words: ["test", "api"],
    code: "secret_unavailable",
    exitCode: 1,
    arrange: async (sandbox) => {
      await withHttp(answering(401))(sandbox);
      await giveToken(sandbox, { env: { PLUGBOARD_SECRET_KEY: "ab".repeat(32) } });
      return { env: { PLUGBOARD_SECRET_KEY: "cd".repeat(32) } };
    },
  },
  "a certificate that nobody trusts": {
    words: ["test", "api"],
    code: "unreachable",
    exitCode: 4,
    isSkipped: !hasOpenssl,
    arrange: async (sandbox) => {
      const server = await startSelfSigned("plugboard.test");
      onTestFinished(() => server[Symbol.asyncDispose]());
      sandbox.configureUser({ api: { url: `https://localhost:${server.port}/mcp` } });
    },
  },
  "TLS where none is spoken": {
    words: ["test", "api"],
    code: "unreachable",
    exitCode: 4,
    arrange: async (sandbox) => {
      await withHttp(answering(200))(sandbox);
      const config = sandbox.read("../home/.plugboard/mcp.json");
      writeFileSync(
        path.join(sandbox.home, ".plugboard/mcp.json"),
        config.replace("http://", "https://"),
      );
    },
  },
  "silent server": {
    waits: true,
    words: ["test", "slow"],
    code: "start_timeout",
    exitCode: 7,
    arrange: withServer("slow", script("setInterval(() => {}, 1000)", { connectTimeout: 3 })),
  },
  "text on stdout and no message": {
    waits: true,
    words: ["test", "chatty"],
    code: "start_timeout",
    exitCode: 7,
    arrange: withServer(
      "chatty",
      script("console.log('Listening on \\u001B[1mport 3000'); setInterval(() => {}, 1000)", {
        connectTimeout: 3,
      }),
    ),
  },
  "a page of HTML": {
    words: ["test", "api"],
    code: "http_error",
    exitCode: 4,
    arrange: withHttp(answering(200, page, "text/html"), asStreamable),
  },
  "HTTP 404": {
    words: ["test", "api"],
    code: "http_error",
    exitCode: 4,
    arrange: withHttp(answering(404, "Not found \u001B[2J"), asStreamable),
  },
  "HTTP 405": {
    words: ["test", "api"],
    code: "http_error",
    exitCode: 4,
    arrange: withHttp(answering(405), asStreamable),
  },
  "HTTP 500": {
    words: ["test", "api"],
    code: "http_error",
    exitCode: 4,
    arrange: withHttp(answering(500, '{"error":"boom"}', "application/json")),
  },
  "HTTP 503": {
    words: ["test", "api"],
    code: "http_error",
    exitCode: 4,
    arrange: withHttp(answering(503, "<title>Down for maintenance</title>", "text/html")),
  },
  "death in a call": {
    words: ["call", "bad.die-speaking"],
    code: "connection_lost",
    exitCode: 4,
    arrange: withServer("bad", misbehaving),
  },
  "unknown server": {
    words: ["test", "gihub"],
    code: "server_unknown",
    exitCode: 2,
    arrange: (sandbox) =>
      void sandbox.configureUser({ demo: demoEntry, files: demoEntry, github: demoEntry }),
  },
  "unknown server, of many": {
    words: ["call", "zzz.x"],
    code: "server_unknown",
    exitCode: 2,
    arrange: (sandbox) =>
      void sandbox.configureUser(
        Object.fromEntries([...Array(60).keys()].map((index) => [`server-${index}`, demoEntry])),
      ),
  },
  "unknown tool": {
    words: ["call", "demo.delete_nte", "id=n1"],
    code: "tool_unknown",
    exitCode: 5,
  },
  "unknown tool, like nothing": {
    words: ["call", "demo.quux"],
    code: "tool_unknown",
    exitCode: 5,
  },
  "missing argument": {
    words: ["call", "demo.add", "a=2"],
    code: "invalid_arguments",
    exitCode: 2,
  },
  "wrong argument": {
    words: ["call", "demo.add", "a=two", "b=3"],
    code: "invalid_arguments",
    exitCode: 2,
  },
  "unset variable": {
    words: ["test", "github"],
    code: "variable_unset",
    exitCode: 2,
    arrange: withServer("github", {
      command: "node",
      args: ["server.js"],
      // oxlint-disable-next-line no-template-curly-in-string -- as it stands in the file
      env: { TOKEN: "${TOKEN_OF_NOBODY}" },
    }),
  },
  "broken JSON in a file": {
    words: ["test", "files"],
    code: "server_unknown",
    exitCode: 2,
    arrange: withFile(
      '{\n  "mcpServers": {\n    "files": { "command": "node" "args": [] }\n  }\n}\n',
    ),
  },
  "broken JSON in the file that is named": {
    words: ["list", "--config", ".plugboard/mcp.json"],
    code: "config_invalid",
    exitCode: 2,
    arrange: withFile(
      '{\n  "mcpServers": {\n    "files": { "command": "node" "args": [] }\n  }\n}\n',
    ),
  },
  "an entry that cannot be used": {
    words: ["test", "bad"],
    code: "config_invalid",
    exitCode: 2,
    arrange: withServer("bad", { args: ["x"] }),
  },
  "tool error": { words: ["call", "demo.fail"], code: "tool_error", exitCode: 5 },
  "tool error of a hostile server": {
    words: ["call", "bad.fail-hostile"],
    code: "tool_error",
    exitCode: 5,
    arrange: withServer("bad", misbehaving),
  },
  "refusal of a hostile server": {
    words: ["call", "bad.refuse-hostile"],
    code: "rpc_error",
    exitCode: 5,
    arrange: withServer("bad", misbehaving),
  },
  timeout: {
    words: ["call", "bad.say-nothing", "--timeout", "300ms"],
    code: "timeout",
    exitCode: 7,
    arrange: withServer("bad", misbehaving),
  },
  "answer too large": {
    words: ["call", "bad.answer-huge"],
    code: "too_large",
    exitCode: 4,
    arrange: withServer("bad", misbehaving),
  },
  "answer that breaks its schema": {
    words: ["call", "bad.answer-wrong"],
    code: "invalid_result",
    exitCode: 5,
    arrange: withServer("bad", misbehaving),
  },
  "answer that makes no sense": {
    words: ["call", "bad.answer-junk"],
    code: "invalid_result",
    exitCode: 5,
    arrange: withServer("bad", misbehaving),
  },
  "left out by the entry": {
    words: ["call", "demo.delete_note", "id=n1"],
    code: "tool_unknown",
    exitCode: 5,
    arrange: withServer("demo", { ...demoEntry, disabledTools: ["delete_note"] }),
  },
  "switched off": {
    words: ["call", "demo.add"],
    code: "server_disabled",
    exitCode: 2,
    arrange: withServer("demo", { ...demoEntry, enabled: false }),
  },
  "not approved": {
    words: ["call", "notes.add", "a=1", "b=2"],
    code: "not_approved",
    exitCode: 6,
    arrange: (sandbox) => void sandbox.configureProject({ notes: demoEntry }),
  },
  "changed tool": {
    words: ["call", "mail.send"],
    code: "definition_changed",
    exitCode: 6,
    arrange: async (sandbox) => {
      const file = path.join(sandbox.home, "tools.json");
      const lists = (description: string): void =>
        writeFileSync(
          file,
          JSON.stringify([{ name: "send", description, inputSchema: { type: "object" } }]),
        );
      sandbox.configureUser({
        mail: { command: "node", args: [fixture("listing-server.mjs"), file] },
      });
      lists("Sends it");
      await sandbox.run(["tools", "mail"]);
      lists("Sends it to everybody");
    },
  },
  "broken store": {
    words: ["consent", "list"],
    code: "store_failed",
    exitCode: 1,
    arrange: brokenStore,
  },
  "store in a folder that is closed": {
    words: ["consent", "list"],
    code: "store_failed",
    exitCode: 1,
    isSkipped: process.platform === "win32" || (process.getuid?.() === 0 && !runsAsNobody()),
    arrange: readOnlyStore,
  },
  "store where no folder can be made": {
    words: ["consent", "allow", "demo"],
    code: "store_failed",
    exitCode: 1,
    isSkipped: process.platform !== "linux",
    arrange: () => ({ env: { PLUGBOARD_DB: "/proc/nope/plugboard.db" } }),
  },
  "locked store": {
    waits: true,
    words: ["consent", "allow", "demo"],
    code: "store_failed",
    exitCode: 1,
    arrange: lockedStore,
  },
  "unknown command": { words: ["lst"], code: "invalid_arguments", exitCode: 2 },
  "unknown option": { words: ["list", "--chek"], code: "invalid_arguments", exitCode: 2 },
  "missing word": { words: ["call"], code: "invalid_arguments", exitCode: 2 },
  "not a duration": {
    words: ["call", "demo.add", "--timeout", "soon"],
    code: "invalid_arguments",
    exitCode: 2,
  },
  "not an argument": { words: ["call", "demo.add", "2"], code: "invalid_arguments", exitCode: 2 },
  "a file that is not there": {
    words: ["call", "demo.echo", "message=@none.txt"],
    code: "invalid_arguments",
    exitCode: 2,
  },
};
