import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { revealAll } from "../../text/secrets/secret-text.ts";
import { parseServerEntry } from "../parse/parse-config.ts";
import { baseDirOf, userFolder } from "./config-files.ts";
import { type LoadConfigOptions, type LoadedConfig, loadConfig } from "./load-config.ts";
import { mergeLayers } from "./merge-layers.ts";

interface World {
  readonly root: string;
  readonly home: string;
  readonly project: string;
  write(file: string, content: unknown): string;
  load(options?: Partial<LoadConfigOptions>): Promise<LoadedConfig>;
}

/** A home, and beside it four folders inside each other; the project is the innermost. */
function createWorld(): World {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "load-")));
  const home = path.join(root, "home");
  const project = path.join(root, "far", "parent", "middle", "project");
  mkdirSync(home);
  mkdirSync(project, { recursive: true });
  return {
    root,
    home,
    project,
    write(file, content) {
      const target = path.resolve(root, file);
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, typeof content === "string" ? content : JSON.stringify(content));
      return target;
    },
    load: (options = {}) => loadConfig({ cwd: project, home, env: {}, ...options }),
  };
}

const entry = (from: string): unknown => ({ command: "run", env: { FROM: from } });
const layers = {
  project: "far/parent/middle/project/.plugboard/mcp.json",
  middle: "far/parent/middle/.plugboard/mcp.json",
  parent: "far/parent/.plugboard/mcp.json",
  far: "far/.plugboard/mcp.json",
  user: "home/.plugboard/mcp.json",
};

describe("layers", () => {
  it("CFG-01 CFG-02: local wins over nearer and farther ancestor, and those over the user's file", async () => {
    const world = createWorld();
    const order = ["project", "middle", "parent", "user"] as const;
    for (const name of order)
      world.write(layers[name], { servers: { same: entry(name), [name]: entry(name) } });
    world.write(layers.far, { servers: { far: entry("far") } });

    const { servers, shadowed, problems } = await world.load();
    expect(problems).toEqual([]);
    expect(servers.map(({ name, provenance }) => [name, provenance.layer])).toEqual([
      ["same", "project"],
      ["project", "project"],
      ["middle", "ancestor"],
      ["parent", "ancestor"],
      ["user", "user"],
    ]);
    expect(revealAll(servers[0]?.transport)).toMatchObject({ env: { FROM: "project" } });
    expect(shadowed.get("same")?.map((config) => config.provenance.path)).toEqual(
      (["middle", "parent", "user"] as const).map((name) => path.join(world.root, layers[name])),
    );
  });

  it("CFG-12: a nearer entry replaces the farther one entirely", async () => {
    const world = createWorld();
    world.write(layers.user, {
      servers: { a: { command: "x", env: { SECRET: "1" }, timeout: 5 } },
    });
    world.write(layers.project, { servers: { a: { command: "y" } } });
    const { servers } = await world.load();
    expect(servers).toMatchObject([{ transport: { command: "y" } }]);
    expect(servers[0]).not.toHaveProperty("callTimeoutMs");
    expect(servers[0]).toHaveProperty("transport.env", {});
  });

  it("CFG-13 CFG-14: a local entry that only says enabled: false switches the user's server off", async () => {
    const world = createWorld();
    world.write("home/.nexus3/mcp.json", {
      servers: { github: { command: ["npx", "-y", "pkg"], env: { T: "${T}" } } },
    });
    world.write("far/parent/middle/project/.nexus3/mcp.json", {
      servers: {
        github: { enabled: false },
        "project-specific": { command: ["./scripts/server.py"] },
      },
    });
    const { servers, shadowed, problems } = await world.load();
    expect(problems).toEqual([]);
    expect(servers).toMatchObject([
      {
        name: "github",
        enabled: false,
        transport: { kind: "none" },
        provenance: { layer: "project" },
      },
      { name: "project-specific", enabled: true },
    ]);
    expect(servers[1]?.transport).toMatchObject({
      command: path.join(world.project, "scripts/server.py"),
    });
    expect(shadowed.get("github")).toMatchObject([
      { enabled: true, provenance: { layer: "user" } },
    ]);
  });

  it("CFG-01: in one folder .plugboard comes first, then .nexus3, then .mcp.json", async () => {
    const world = createWorld();
    const folder = "far/parent/middle/project";
    const names = [".plugboard/mcp.json", ".nexus3/mcp.json", ".mcp.json"];
    for (const name of names)
      world.write(`${folder}/${name}`, { mcpServers: { same: entry(name) } });
    const { servers, shadowed } = await world.load();
    expect(revealAll(servers[0]?.transport)).toMatchObject({ env: { FROM: names[0] } });
    expect(
      shadowed
        .get("same")
        ?.map(({ provenance }) => path.relative(world.project, provenance.path ?? "")),
    ).toEqual(names.slice(1));
  });

  it("CFG-01: the depth of the search can be set", async () => {
    const world = createWorld();
    world.write(layers.middle, { servers: { middle: entry("middle") } });
    world.write(layers.far, { servers: { far: entry("far") } });
    const names = async (ancestorDepth: number): Promise<string[]> =>
      (await world.load({ ancestorDepth })).servers.map((server) => server.name);
    expect(await names(0)).toEqual([]);
    expect(await names(1)).toEqual(["middle"]);
    expect(await names(3)).toEqual(["middle", "far"]);
  });

  it("CFG-01: the user's home is never a project's ancestor, and nothing above it is", async () => {
    const world = createWorld();
    world.write(".mcp.json", { mcpServers: { above: entry("above") } });
    world.write("home/.mcp.json", { mcpServers: { beside: entry("beside") } });
    world.write(layers.user, { servers: { mine: entry("user") } });
    const cwd = path.join(world.home, "work");
    mkdirSync(cwd);
    const { servers } = await world.load({ cwd });
    expect(servers).toMatchObject([{ name: "mine", provenance: { layer: "user" } }]);
  });

  it("CFG-01: in the home itself the user's file stays the user's", async () => {
    const world = createWorld();
    world.write(layers.user, { servers: { mine: entry("user") } });
    const { servers, shadowed } = await world.load({ cwd: world.home });
    expect(servers).toMatchObject([{ name: "mine", provenance: { layer: "user" } }]);
    expect(shadowed.size).toBe(0);
  });

  it("CFG-01: a link to the user's file makes no second layer", async () => {
    const world = createWorld();
    const user = world.write(layers.user, { servers: { mine: entry("user") } });
    mkdirSync(path.join(world.project, ".plugboard"));
    symlinkSync(user, path.join(world.project, ".plugboard/mcp.json"));
    const { servers, shadowed } = await world.load();
    expect(servers).toMatchObject([{ provenance: { layer: "user" } }]);
    expect(shadowed.size).toBe(0);
  });

  it("CFG-01: PLUGBOARD_HOME names the .plugboard folder itself", async () => {
    const world = createWorld();
    world.write("elsewhere/mcp.json", { servers: { there: { command: "./x" } } });
    world.write(layers.user, { servers: { here: entry("here") } });
    const env = { PLUGBOARD_HOME: path.join(world.root, "elsewhere") };
    const { servers } = await world.load({ env });
    expect(servers).toMatchObject([
      { name: "there", transport: { command: path.join(world.root, "elsewhere/x") } },
    ]);
    expect(userFolder({ home: "/h", env })).toBe(path.join(world.root, "elsewhere"));
    expect(userFolder({ home: "/h", env: {} })).toBe("/h/.plugboard");
    expect(userFolder()).toBe(path.join(process.env["HOME"] ?? "", ".plugboard"));
  });

  it("CFG-18: relative paths start from the folder that holds the layer", () => {
    expect(baseDirOf("/p/.plugboard/mcp.json")).toBe("/p");
    expect(baseDirOf("/p/.nexus3/mcp.json")).toBe("/p");
    expect(baseDirOf("/p/.mcp.json")).toBe("/p");
  });

  it("CFG-40, L3: two layers whose names differ but give one id are reported, the user's stays", async () => {
    const world = createWorld();
    world.write(layers.project, { servers: { GitHub: entry("project") } });
    world.write(layers.user, { servers: { github: entry("user") } });
    const { servers, problems } = await world.load();
    expect(servers.map((server) => server.name)).toEqual(["github"]);
    expect(problems).toMatchObject([{ severity: "error", serverName: "GitHub", layer: "project" }]);
    expect(problems[0]?.message).toContain(path.join(world.root, layers.user));
  });

  it("CFG-40, L3: a project's prefix takes no server away from the user", async () => {
    const world = createWorld();
    world.write(layers.project, {
      servers: {
        one: { command: "one", toolPrefix: "github" },
        two: { command: "two", toolPrefix: "github" },
      },
    });
    world.write(layers.user, { servers: { github: entry("user") } });
    const { servers, problems } = await world.load();
    expect(servers.map((server) => server.name)).toEqual(["one", "github"]);
    expect(problems).toMatchObject([{ serverName: "two", layer: "project" }]);
  });

  it("CFG-42: a broken file is a problem with its place, and the other layers load", async () => {
    const world = createWorld();
    world.write(layers.project, '{ "servers": { "a": {} "b": {} } }');
    world.write(layers.user, { servers: { mine: entry("user") } });
    const { servers, problems } = await world.load();
    expect(servers.map((server) => server.name)).toEqual(["mine"]);
    expect(problems).toMatchObject([
      { severity: "error", layer: "project", line: 1, column: 24, message: 'expected ","' },
    ]);
  });

  it("CFG-42 L6: a file names a thousand servers at most, and says what became of the rest", async () => {
    const world = createWorld();
    const servers = Array.from({ length: 1_001 }, (_, index) => [`s${index}`, { command: "x" }]);
    const file = world.write(`${world.project}/.mcp.json`, {
      servers: Object.fromEntries(servers),
    });
    world.write("home/.plugboard/mcp.json", { servers: { mine: { command: "y" } } });
    const { servers: read, problems } = await world.load();
    expect(read.map(({ name }) => name)).toEqual([
      ...Array.from({ length: 1_000 }, (_, index) => `s${index}`),
      "mine",
    ]);
    expect(problems).toMatchObject([
      {
        severity: "error",
        path: file,
        message: "it names 1001 servers; only the first 1000 are read",
      },
    ]);
  });

  it("CFG-42 L6: a file of more values than so many servers have is not parsed at all", async () => {
    const world = createWorld();
    const servers = Array.from({ length: 24_000 }, (_, index) => [`s${index}`, { command: "x" }]);
    const file = world.write(`${world.project}/.mcp.json`, {
      servers: Object.fromEntries(servers),
    });
    world.write("home/.plugboard/mcp.json", { servers: { mine: { command: "y" } } });
    const { servers: read, problems } = await world.load();
    expect(read.map(({ name }) => name)).toEqual(["mine"]);
    expect(problems).toMatchObject([
      { severity: "error", path: file, message: "it holds more than 25000 keys and values" },
    ]);
  });

  it("CFG-42: entries know file, line and column", async () => {
    const world = createWorld();
    const file = world.write(
      layers.project,
      '{\n  "servers": {\n    "a": { "command": "x" }\n  }\n}',
    );
    const { servers } = await world.load();
    expect(servers[0]?.provenance).toEqual({ layer: "project", path: file, line: 3, column: 5 });
  });

  it("CFG-01: every place that was looked at is listed, nearest first", async () => {
    const world = createWorld();
    world.write(layers.middle, {});
    const { files } = await world.load();
    expect(files).toHaveLength(11);
    expect(files.filter((file) => file.isFound).map((file) => file.layer)).toEqual(["ancestor"]);
    expect(files.at(-1)?.path).toBe(path.join(world.home, ".nexus3/mcp.json"));
  });

  it("CFG-01: files named by hand replace the search, count as the user's and must exist", async () => {
    const world = createWorld();
    world.write(layers.project, { servers: { project: entry("project") } });
    world.write("far/parent/middle/project/one.json", { servers: { a: entry("one") } });
    world.write("two.json", { servers: { a: entry("two"), b: entry("two") } });
    const files = ["one.json", path.join(world.root, "two.json"), "none.json"];
    const { servers, problems } = await world.load({ files });
    expect(revealAll(servers)).toMatchObject([
      { name: "a", transport: { env: { FROM: "one" } }, provenance: { layer: "user" } },
      { name: "b" },
    ]);
    expect(problems).toMatchObject([{ severity: "error", message: "there is no such file" }]);
  });

  it("CFG-29: the defaults of one file do not reach the entries of another", async () => {
    const world = createWorld();
    world.write(layers.project, { defaults: { env: { EVIL: "1" } }, servers: {} });
    world.write(layers.user, { servers: { mine: { command: "x" } } });
    const { servers } = await world.load();
    expect(servers[0]).toHaveProperty("transport.env", {});
  });

  it("CFG-02: layers of any origin can be put together", () => {
    const inCode = parseServerEntry("a", { command: "x" });
    const stored = parseServerEntry("a", { command: "y" }, { provenance: { layer: "store" } });
    const { servers, shadowed } = mergeLayers([[inCode], [stored]]);
    expect(servers).toEqual([inCode]);
    expect(shadowed.get("a")).toEqual([stored]);
  });

  it("CFG-41: strict reaches every file", async () => {
    const world = createWorld();
    world.write(layers.user, { servers: { mine: { command: "x", junk: 1 } } });
    expect((await world.load({ strict: true })).problems).toMatchObject([{ severity: "error" }]);
  });
});

describe("weight", () => {
  it("CFG-01: the room needs nothing but Node and the parsers of JSONC and TOML", () => {
    const folder = new URL("../", import.meta.url);
    const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
      (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
    );
    const imported = new Set<string>();
    for (const name of sources) {
      const text = readFileSync(new URL(name, folder), "utf8");
      for (const [, specifier = ""] of text.matchAll(/(?:from\s+|import\(\s*)"([^"]+)"/g))
        if (!specifier.startsWith(".") && !specifier.startsWith("node:")) imported.add(specifier);
    }
    expect([...imported].toSorted()).toEqual(["jsonc-parser", "smol-toml"]);
  });
});
