import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";

import { describe, expect, it } from "vitest";

import type { McpHost } from "../../src/index.ts";
import { makeProject, type Project } from "./project.ts";

interface Start {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A program that writes down where it was started, each under its name, and ends. */
function recorder(project: Project, name: string, more: object = {}): object {
  const script = `require("node:fs").writeFileSync(${JSON.stringify(diary(project, name))},
    JSON.stringify({ cwd: process.cwd(), env: process.env }))`;
  return { command: process.execPath, args: ["-e", script], reconnect: false, ...more };
}

function diary({ home }: Project, name: string): string {
  return path.join(home, `diary of ${name}`);
}

async function writeForUser({ home }: Project, servers: object): Promise<void> {
  await mkdir(path.join(home, ".plugboard"), { recursive: true });
  await writeFile(path.join(home, ".plugboard", "mcp.json"), JSON.stringify({ servers }));
}

async function startOf(project: Project, host: McpHost, name: string): Promise<Start> {
  await host.connect(name).catch(() => undefined);
  return JSON.parse(await readFile(diary(project, name), "utf8")) as Start;
}

describe("the folder that a server starts in", () => {
  it("L1: is a private one of its own for the user's servers, the project's for the project's and those in code", async () => {
    await using project = await makeProject();
    await writeForUser(project, { mine: recorder(project, "mine") });
    await project.write(recorder(project, "project"));
    await using host = await project.host({ servers: { code: recorder(project, "code") } });
    await host.add("Kept Here", recorder(project, "Kept Here"));
    await host.approve("project");
    const own = path.join(project.home, ".plugboard", "servers");
    expect((await startOf(project, host, "mine")).cwd).toBe(path.join(own, "mine"));
    expect((await startOf(project, host, "Kept Here")).cwd).toBe(path.join(own, "kept-here"));
    expect((await startOf(project, host, "project")).cwd).toBe(project.cwd);
    expect((await startOf(project, host, "code")).cwd).toBe(project.cwd);
    for (const folder of [own, path.join(own, "mine")])
      expect((await stat(folder)).mode & 0o777, folder).toBe(0o700);
  });

  it("L1: lies where PLUGBOARD_HOME says", async () => {
    await using project = await makeProject();
    const folder = path.join(project.home, "elsewhere");
    await mkdir(folder);
    const servers = { mine: recorder(project, "mine") };
    await writeFile(path.join(folder, "mcp.json"), JSON.stringify({ servers }));
    const env = { ...process.env, PLUGBOARD_HOME: folder };
    await using host = await project.host({ home: undefined, env });
    expect((await startOf(project, host, "mine")).cwd).toBe(path.join(folder, "servers", "mine"));
  });

  it("L1: is where the user works when the entry says so, and nowhere else is that replaced", async () => {
    await using project = await makeProject();
    await mkdir(path.join(project.cwd, "sub"));
    await writeForUser(project, {
      root: recorder(project, "root", { cwd: "${workspaceFolder}" }),
      sub: recorder(project, "sub", { cwd: "${workspaceFolder}/sub" }),
      inside: recorder(project, "inside", { cwd: "x${workspaceFolder}" }),
    });
    await using host = await project.host();
    expect((await startOf(project, host, "root")).cwd).toBe(project.cwd);
    expect((await startOf(project, host, "sub")).cwd).toBe(path.join(project.cwd, "sub"));
    expect(host.configProblems.map(({ serverName }) => serverName)).toEqual(["inside"]);
    await expect(host.connect("inside")).rejects.toMatchObject({ code: "config_invalid" });
  });

  it("L1: is refused when other users could have put something into it", async () => {
    await using project = await makeProject();
    await writeForUser(project, { mine: recorder(project, "mine") });
    await using host = await project.host();
    const folder = path.join(project.home, ".plugboard", "servers", "mine");
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o777);
    await expect(host.connect("mine")).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining(`chmod o-w ${folder}`) as unknown,
    });
  });

  it("L1: relative paths of an entry that is added are kept absolute, and that is said", async () => {
    await using project = await makeProject();
    await writeFile(path.join(project.cwd, "server.js"), "");
    await using host = await project.host();
    const entry = { command: "node", args: ["server.js"] };
    const { notes, config } = await host.add("mine", entry);
    const file = path.join(project.cwd, "server.js");
    expect(notes).toEqual([`argument 1 "server.js" is kept as ${file}`]);
    expect(config.transport).toMatchObject({ args: [file] });
    expect((await host.update("mine", entry)).notes).toEqual(notes);
    const shared = await host.add("shared", entry, { scope: "project" });
    expect(shared).toMatchObject({ notes: [], config: { transport: { args: ["server.js"] } } });
  });

  it("L1: a relative path in the user's file is warned of", async () => {
    await using project = await makeProject();
    await writeForUser(project, {
      one: { command: "npx", args: ["-y", "pkg", "."] },
      two: { command: "npx", args: ["./x"], cwd: "${workspaceFolder}" },
    });
    await using host = await project.host();
    expect(host.configProblems).toMatchObject([
      {
        serverName: "one",
        severity: "warning",
        message: expect.stringMatching(
          /^argument 3 is a relative path, .*workspaceFolder/,
        ) as unknown,
      },
    ]);
  });
});

describe("the PATH of a server", () => {
  it("L1: leads the user's servers into no folder of the project, and others where it always did", async () => {
    await using project = await makeProject();
    const { cwd, home } = project;
    const folder = path.join(cwd, "packages", "one");
    await mkdir(path.join(cwd, ".git"));
    await mkdir(folder, { recursive: true });
    const kept = [path.join(home, "bin"), "/usr/bin", "/bin"];
    const dropped = [
      path.join(folder, "node_modules", ".bin"),
      path.join(cwd, "node_modules", ".bin"),
      path.join(cwd, ".venv", "bin"),
    ];
    const PATH = [...dropped, ...kept].join(path.delimiter);
    await writeForUser(project, { mine: recorder(project, "mine") });
    const env = { PATH, HOME: home, INIT_CWD: cwd, npm_config_prefix: cwd };
    await using host = await project.host({
      cwd: folder,
      env,
      servers: { code: recorder(project, "code") },
    });
    const started = await startOf(project, host, "mine");
    expect(started.env["PATH"]).toBe(kept.join(path.delimiter));
    expect(Object.keys(started.env).filter((name) => /^npm_|INIT_CWD/.test(name))).toEqual([]);
    expect((await startOf(project, host, "code")).env["PATH"]).toBe(PATH);
  });
});
