import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it, onTestFinished } from "vitest";

import { createHost, type Logger, type McpHost, type Outcome } from "../../src/index.ts";

const program = fileURLToPath(new URL("../fixtures/servers/telling-server.mjs", import.meta.url));

const canaryNames = [
  "env literal with a telling name",
  "env literal with another name",
  "env from a variable",
  "env passed through",
  "env of the host alone",
  "header literal",
  "header from a variable",
  "bearer literal",
  "bearer from a variable",
  "password in an address",
  "token in a query",
  "token in a query from a variable",
  "env of a project's entry",
  "header of a project's entry",
  "argument of a call that works",
  "argument of a call that fails",
  "argument of a call that is denied",
  "argument of a call that is invalid",
  "argument of a call that times out",
  "argument of a call of nothing",
] as const;
type CanaryName = (typeof canaryNames)[number];

/** Recognizable by nothing: neither a prefix of a known service nor a word like `secret`. */
function canary(name: CanaryName): string {
  return `cnry${createHash("sha256").update(name).digest("hex").slice(0, 24)}`;
}

/** Which canaries are in a text, as they are or as an encoding would write them. */
function found(text: string): readonly CanaryName[] {
  return canaryNames.filter((name) => {
    const value = canary(name);
    const forms = [value, Buffer.from(value).toString("base64").replace(/=+$/, "")];
    return forms.some((form) => text.includes(form));
  });
}

/** A server that repeats all it is sent, and lets nobody in who comes to `/closed`. */
async function startEcho(): Promise<string> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const told = `${request.method} ${request.url} ${JSON.stringify(request.headers)}`;
    if (request.url?.startsWith("/closed") === true) {
      response.writeHead(401, { "content-type": "text/plain" }).end(`not you: ${told}`);
      return;
    }
    const { id, method } = JSON.parse(body === "" ? "{}" : body) as Record<string, unknown>;
    const results: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "echo", version: "1" },
      },
      "tools/list": { tools: [{ name: "any", inputSchema: { type: "object" } }] },
    };
    if (id === undefined) return void response.writeHead(202).end();
    const result = results[String(method)];
    const said = result === undefined ? { error: { code: -32_000, message: told } } : { result };
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id, ...said }));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Whatever a person, a log or a disk gets to see, by where. */
class Sinks {
  readonly #texts = new Map<string, string[]>();

  readonly logger: Logger;

  constructor() {
    const log = (message: string, fields?: object): void => this.add("log", [message, fields]);
    this.logger = { debug: log, info: log, warn: log, error: log };
  }

  add(where: string, value: unknown): void {
    const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
    this.#texts.set(where, [...(this.#texts.get(where) ?? []), text]);
  }

  count(where: string): number {
    return this.#texts.get(where)?.length ?? 0;
  }

  /** The canaries that got out, by where. */
  leaks(): Readonly<Record<string, readonly CanaryName[]>> {
    const leaks = [...this.#texts].map(
      ([where, texts]) => [where, found(texts.join("\n"))] as const,
    );
    return Object.fromEntries(leaks.filter(([, names]) => names.length > 0));
  }
}

interface Place {
  readonly home: string;
  readonly cwd: string;
}

function makePlace(): Place {
  const root = mkdtempSync(path.join(tmpdir(), "canaries-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const place = { home: path.join(root, "home"), cwd: path.join(root, "work") };
  mkdirSync(path.join(place.home, ".plugboard"), { recursive: true });
  mkdirSync(path.join(place.cwd, ".plugboard"), { recursive: true });
  return place;
}

function configure({ home, cwd }: Place, echo: string): void {
  const write = (folder: string, mcpServers: object): void =>
    writeFileSync(path.join(folder, ".plugboard/mcp.json"), JSON.stringify({ mcpServers }));
  const telling = { command: process.execPath, args: [program] };
  write(home, {
    telling: {
      ...telling,
      env: {
        API_KEY: canary("env literal with a telling name"),
        SETTING: canary("env literal with another name"),
        FROM_VARIABLE: "${ENV_CANARY}",
      },
      envPassthrough: ["PASSED_CANARY"],
    },
    headers: {
      url: `http://${echo}/mcp?key=\${QUERY_CANARY}`,
      transport: "streamable-http",
      headers: { "X-Literal": canary("header literal"), "X-Variable": "${HEADER_CANARY}" },
    },
    bearer: {
      url: `http://${echo}/mcp?access_token=${canary("token in a query")}`,
      transport: "http-post",
      auth: { type: "bearer", token: canary("bearer literal") },
    },
    closed: {
      url: `http://${echo}/closed`,
      transport: "streamable-http",
      auth: { type: "bearer", token: "${BEARER_CANARY}" },
    },
    address: {
      url: `http://user:${canary("password in an address")}@${echo}/closed`,
      transport: "streamable-http",
    },
  });
  write(cwd, {
    project: { ...telling, env: { PLAIN: canary("env of a project's entry") } },
    projectHeaders: {
      url: `http://${echo}/closed`,
      headers: { "X-Project": canary("header of a project's entry") },
    },
  });
}

const hostEnv = {
  PATH: process.env["PATH"],
  ENV_CANARY: canary("env from a variable"),
  PASSED_CANARY: canary("env passed through"),
  HOST_CANARY: canary("env of the host alone"),
  HEADER_CANARY: canary("header from a variable"),
  BEARER_CANARY: canary("bearer from a variable"),
  QUERY_CANARY: canary("token in a query from a variable"),
};

/** The calls of two sessions: one that works, and every way in which one may not. */
async function callEverything(host: McpHost, sinks: Sinks): Promise<readonly Outcome[]> {
  const session = host.session({ agent: "main", level: "yolo", history: true });
  const silent = host.session({ agent: "silent", level: "trusted", history: true });
  await session.ready();
  const secret = (name: CanaryName): object => ({
    password: canary(name),
    n: { token: canary(name) },
  });
  const onProgress = (): void => {};
  const outcomes = [
    await session.call(
      "mcp__telling__keep",
      { ...secret("argument of a call that works") },
      { onProgress },
    ),
    await session.call("mcp__telling__fail", { ...secret("argument of a call that fails") }),
    await session.call("mcp__telling__refuse", {}),
    await silent.call("mcp__telling__keep", { ...secret("argument of a call that is denied") }),
    await session.call("mcp__telling__strict", { ...secret("argument of a call that is invalid") }),
    await session.call(
      "mcp__telling__hang",
      { ...secret("argument of a call that times out") },
      { timeoutMs: 200 },
    ),
    await session.call("mcp__telling__nothing", { ...secret("argument of a call of nothing") }),
    await session.call("mcp__project__refuse", {}),
    await session.call("mcp__headers__any", {}),
    await session.call("mcp__bearer__any", {}),
  ];
  sinks.add("history", [session.history(), silent.history()]);
  return outcomes;
}

/** Command lines of the children of this process. */
function childCommands(host: McpHost): readonly string[] {
  return host
    .servers()
    .flatMap(({ pid }) =>
      pid === undefined ? [] : [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")],
    );
}

/** The database and whatever lies beside it, byte by byte. */
function storeFiles({ home }: Place): readonly string[] {
  const folder = path.join(home, ".plugboard");
  return readdirSync(folder)
    .filter((file) => file.startsWith("plugboard.db"))
    .map((file) => readFileSync(path.join(folder, file), "latin1"));
}

describe("canary secrets", () => {
  it("20 of them in config, environment, headers, tokens and arguments are in no log, event, error, snapshot, audit row, store or process list", async () => {
    expect(new Set(canaryNames.map(canary)).size).toBe(20);
    const sinks = new Sinks();
    const place = makePlace();
    configure(place, await startEcho());
    {
      await using host = await createHost({
        ...place,
        env: hostEnv,
        watch: false,
        logger: sinks.logger,
      });
      // What an observer in the process is told of a call is the program's own: arguments and result.
      host.on("*", (event) => {
        if (event.type !== "tool-invoked") sinks.add(`event ${event.type}`, event);
      });
      for (const name of ["project", "projectHeaders"]) await host.approve(name);
      for (const name of ["closed", "address", "projectHeaders"])
        await host.connect(name).catch((error: unknown) => {
          sinks.add("thrown error", (error as Error).message);
          sinks.add("thrown error", error);
        });
      const outcomes = await callEverything(host, sinks);
      expect(outcomes.map((it) => (it.ok ? "ok" : it.error.code))).toEqual([
        "ok",
        "tool_error",
        "rpc_error",
        "consent_denied",
        "invalid_arguments",
        "timeout",
        "tool_unknown",
        "rpc_error",
        "rpc_error",
        "rpc_error",
      ]);
      // What a tool returns is the caller's and shows what the server had in its hands; an error without credentials.
      expect(found(outcomes[1]?.text ?? "")).toEqual([
        "env literal with another name",
        "env from a variable",
        "argument of a call that fails",
      ]);
      for (const outcome of outcomes)
        // The words of a tool that failed are its result, and the caller's.
        if (!outcome.ok && outcome.error.code !== "tool_error") sinks.add("error", outcome.error);
      sinks.add("status", host.servers());
      for (const { name, lastError } of host.servers()) {
        sinks.add("stderr", host.logs(name));
        sinks.add("status", lastError?.toJSON());
      }
      if (process.platform === "linux") sinks.add("process list", childCommands(host));
      sinks.add("pins", await host.pins.list());
      sinks.add("grants", host.grants.list());
      for await (const row of host.audit.export()) sinks.add("audit", row);
      for (const bytes of storeFiles(place)) sinks.add("store", bytes);
    }
    for (const bytes of storeFiles(place)) sinks.add("store", bytes);
    for (const where of ["log", "event server-log", "stderr", "audit", "store", "thrown error"])
      expect(sinks.count(where), where).toBeGreaterThan(0);
    expect(sinks.leaks()).toEqual({});
  });
});
