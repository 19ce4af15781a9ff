import { readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { format, inspect } from "node:util";

import type { McpHost } from "../../../src/index.ts";
import { runCommand } from "../command-line.ts";
import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import { Project } from "../project.ts";
import { type Figures, type Row, zero } from "../row.ts";

/** In every secret of the row, and in nothing else. */
const canary = "canary";
const key = [
  "-----BEGIN KEY-----",
  "canary-first-line",
  "canary-second-line",
  "-----END KEY-----",
].join("\n");
const env = { API_TOKEN: "canary-token-7", PRIVATE_KEY: key };

function entries(): Readonly<Record<string, object>> {
  const { command, args } = hostileEntry("tell-secrets");
  const secretArgs = ["--token", "canary-arg-1", "--api-key", "canary-arg-2", "--api-key=canary-3"];
  return {
    teller: { command, args: [...args, ...secretArgs], env },
    failing: { command, args: [...args, "fail=1", ...secretArgs], env },
    remote: {
      url: "http://127.0.0.1:9/mcp?key=canary-query&page=1",
      headers: { "X-Secret": "canary-header" },
      auth: { type: "bearer", token: "canary-bearer" },
    },
    sse: {
      transport: "sse",
      url: "http://127.0.0.1:9/sse?subscription-key=canary-sse",
      auth: { type: "oauth", clientSecret: "canary-client", privateKey: key },
    },
  };
}

/** Every way in which an object gets printed or copied by accident, made as they are asked for. */
function* printed(value: object): Generator<string> {
  const copies = [value, { ...value }, structuredClone(JSON.parse(JSON.stringify(value)))];
  const parts = Object.values(value).filter((part) => typeof part === "object" && part !== null);
  for (const it of [...copies, ...parts.map((part: object) => ({ ...part }))] as unknown[]) {
    yield inspect(it, { depth: 9 });
    yield format("%s", it);
    yield format("%O", it);
    yield JSON.stringify(it);
  }
  yield cloned(value);
}

/** A structured clone takes no functions along; of what it can take, it may take no secret. */
function cloned(value: object): string {
  try {
    return inspect(structuredClone(value), { depth: 9 });
  } catch {
    return "";
  }
}

/** Printing is work of the row: others get their turn after each text. */
async function sightings(texts: Iterable<string>): Promise<number> {
  let count = 0;
  for (const text of texts) {
    count += text.split(canary).length - 1;
    await nextTurn();
  }
  return count;
}

/** All that lies in the user's folder but the entries themselves. */
function stored({ home }: Project): readonly string[] {
  const folder = path.join(home, ".plugboard");
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile() && item.name !== "mcp.json")
    .map((item) => readFileSync(path.join(item.parentPath, item.name), "latin1"));
}

async function tellSecrets(lab: Lab, product: Product): Promise<Figures> {
  const figures = {
    "in printed objects": 0,
    "in status and --json": 0,
    "in errors and output": 0,
    "in names, types and events": 0,
    "in the store": 0,
    "calls failed": 0,
    "secrets lost": 0,
  };
  for (let round = 0; round < lab.count; round += 1) {
    using project = new Project();
    const written = entries();
    project.writeForUser(written);
    const { home, cwd } = project;
    const loaded = await product.loadConfig({ home, cwd, env: {} });
    const parsed = product.parseConfig({ servers: written });
    {
      await using host = await project.open(product);
      const events: unknown[] = [];
      host.on("*", (event) => events.push(event));
      const session = host.session({ level: "yolo" });
      const errors: unknown[] = [];
      for (const { name } of host.servers())
        await host.connect(name).catch((error: unknown) => errors.push(error));
      const tools = session.tools();
      for (const { name } of tools) {
        const { ok } = await session.call(name, {});
        if (!ok) figures["calls failed"] += 1;
      }
      const configs = [
        ...loaded.servers,
        ...parsed.servers,
        ...host.servers().map(({ config }) => config),
      ];
      const objects = [loaded, parsed, host.servers(), ...host.servers(), ...configs];
      for (const it of [...objects, ...configs.map((config) => ({ ...config }))])
        figures["in printed objects"] += await sightings(printed(it));
      figures["in status and --json"] += await sightings([
        ...host.servers().map(({ target }) => target),
        ...(await commandOutput(project)),
      ]);
      figures["in errors and output"] += await sightings([
        ...errors.map((error) => inspect(error, { depth: 9 }) + JSON.stringify(error)),
        ...host.servers().flatMap(({ name }) => host.logs(name)),
      ]);
      figures["in names, types and events"] += await sightings([
        await host.emitTypes("teller"),
        inspect(await host.audit.query(), { depth: 9 }),
        inspect(await host.pins.list(), { depth: 9 }),
      ]);
      figures["in names, types and events"] += await sightings(shown([...tools, ...events]));
      if (tools.length < 5) figures["calls failed"] += 1;
    }
    figures["in the store"] += await sightings(stored(project));
    rmSync(path.join(home, ".plugboard", "mcp.json"));
    figures["secrets lost"] += await handBack(project, product, parsed.servers[0] ?? {});
  }
  return figures;
}

function* shown(values: readonly unknown[]): Generator<string> {
  for (const value of values) yield inspect(value, { depth: 12 });
}

async function commandOutput(project: Project): Promise<readonly string[]> {
  const commands = [["list"], ["list", "--json"], ["list", "--check", "--json"], ["tools"]];
  const texts: string[] = [];
  for (const words of commands) {
    const { stdout, stderr } = await runCommand(project, words);
    texts.push(stdout, stderr);
  }
  return texts;
}

/** How many ways of handing a configuration back end in a server that was not given its secrets. */
async function handBack(project: Project, product: Product, config: object): Promise<number> {
  await using host = await project.open(product, { servers: { given: { ...config } } });
  await host.add("added", config);
  await host.update("added", { ...host.server("added").config, callTimeoutMs: 9_000 });
  const kept = await Promise.all(["given", "added"].map((name) => hasSecrets(host, name)));
  return kept.filter((isKept) => !isKept).length;
}

async function hasSecrets(host: McpHost, name: string): Promise<boolean> {
  const outcome = await host
    .session({ level: "yolo" })
    .call(`mcp__${name}__attack`, { tell: true });
  const { env: given } = (outcome.structured ?? {}) as { readonly env?: typeof env };
  return given?.API_TOKEN === env.API_TOKEN && given.PRIVATE_KEY === env.PRIVATE_KEY;
}

export const secretRows: readonly Row[] = [
  {
    id: "L9",
    trigger:
      "secrets in env, headers, tokens, ?key=, --token X, a key of several lines, tool names",
    expected: "masked wherever they are printed, and handed on where they are used",
    measured:
      "sightings of 12 secrets: inspect, console.log, spreads, JSON and structured clones of loaded, parsed and running configurations; status and the command line; errors and output; names, types, events, pins, audit; the store. Then the configuration is handed back",
    criteria: zero(
      "in printed objects",
      "in status and --json",
      "in errors and output",
      "in names, types and events",
      "in the store",
      "calls failed",
      "secrets lost",
    ),
    servers: {},
    ownModes: ["tell-secrets"],
    stallAllowance: {
      atMostMs: 250,
      reason: "the row prints the list of all servers in one piece, which takes up to 70 ms",
    },
    counts: { short: 1, normal: 5, long: 20 },
    attack: tellSecrets,
  },
];
