import { chmod, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";

import { describe, expect, it } from "vitest";

import { loadConfig } from "../../src/config/files/load-config.ts";
import type { Human, InputQuestion } from "../../src/human/human.ts";
import type { McpHost } from "../../src/index.ts";
import { makeProject, type Project } from "./project.ts";

interface Start {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

const telling = fileURLToPath(new URL("../fixtures/servers/telling-server.mjs", import.meta.url));
const secret = "s3cret-canary-4711";

/** A program that writes down how it was started, and ends. */
async function recorder({ home }: Project): Promise<string> {
  const file = path.join(home, "recorder.cjs");
  await writeFile(
    file,
    `require("node:fs").writeFileSync(process.argv[2], JSON.stringify({
      args: process.argv.slice(3), cwd: process.cwd(), env: process.env }))`,
  );
  return file;
}

async function startOf(project: Project, host: McpHost, name: string): Promise<Start> {
  await host.connect(name).catch(() => undefined);
  return JSON.parse(await readFile(path.join(project.home, name), "utf8")) as Start;
}

async function write(folder: string, file: string, content: unknown): Promise<string> {
  const place = path.join(folder, file);
  await mkdir(path.dirname(place), { recursive: true });
  await writeFile(place, typeof content === "string" ? content : JSON.stringify(content));
  return place;
}

/** Answers every question with one value, and remembers what it was asked. */
function answering(value: string): { human: Human; questions: InputQuestion[] } {
  const questions: InputQuestion[] = [];
  const human: Human = {
    input: async (question) => {
      questions.push(question);
      return value;
    },
  };
  return { human, questions };
}

const declared = [
  { type: "promptString", id: "key", description: "Your key", password: true, default: "none" },
  { type: "promptString", id: "unused" },
];

describe("a file of VS Code or Cursor", () => {
  it.each([".vscode", ".cursor"])("CFG-20: in %s loads as it does there", async (folder) => {
    await using project = await makeProject();
    const { cwd, home } = project;
    await write(cwd, ".env", `# comment\nexport FROM_FILE="a b"\nBOTH=file\n`);
    const file = await write(cwd, `${folder}/mcp.json`, {
      inputs: declared,
      servers: {
        s: {
          type: "stdio",
          command: process.execPath,
          args: [
            await recorder(project),
            "${userHome}/s",
            "${workspaceFolder}/data",
            "${workspaceFolderBasename}",
            "${env:REGION}",
            "${input:key}",
          ],
          cwd: "${workspaceFolder}",
          env: { KEY: "Bearer ${input:key}", CACHE: "${userHome}/cache", BOTH: "entry" },
          envFile: "${workspaceFolder}/.env",
        },
      },
    });
    const { human, questions } = answering(secret);
    const env = { ...process.env, REGION: "north" };
    await using host = await project.host({ configFiles: [file], human, env });
    expect(host.configProblems).toEqual([]);
    const start = await startOf(project, host, "s");
    expect(start.args).toEqual([`${cwd}/data`, path.basename(cwd), "north", secret]);
    expect(start.cwd).toBe(cwd);
    expect(start.env).toMatchObject({
      KEY: `Bearer ${secret}`,
      CACHE: `${home}/cache`,
      FROM_FILE: "a b",
      BOTH: "entry",
    });
    expect(questions).toEqual([
      {
        serverName: "s",
        origin: `${folder}/mcp.json:1`,
        id: "key",
        description: "Your key",
        isSecret: true,
        default: "none",
        options: [],
      },
    ]);
  });

  it("finds a command and a relative envFile beside the folder of the file", async () => {
    await using project = await makeProject();
    const { cwd } = project;
    const marker = path.join(project.home, "started");
    const script = await write(cwd, "bin/run", `#!/bin/sh\necho "$FROM_FILE" > '${marker}'\n`);
    await chmod(script, 0o755);
    await write(cwd, ".env", "FROM_FILE=here");
    const file = await write(cwd, ".vscode/mcp.json", {
      servers: { s: { command: "${workspaceFolder}/bin/run", envFile: ".env" } },
    });
    await using host = await project.host({ configFiles: [file] });
    await host.connect("s").catch(() => undefined);
    expect(await readFile(marker, "utf8")).toBe("here\n");
  });

  it("an input is asked for once, for all servers of the file, and again after a no", async () => {
    await using project = await makeProject();
    const program = await recorder(project);
    const entry = (name: string) => ({
      command: process.execPath,
      args: [program, path.join(project.home, name)],
      env: { KEY: "${input:key}" },
    });
    const file = await write(project.cwd, ".vscode/mcp.json", {
      inputs: declared,
      servers: { one: entry("one"), two: entry("two") },
    });
    let isReady = false;
    const { human, questions } = answering(secret);
    const hesitant: Human = {
      input: async (question, options) =>
        isReady ? await human.input?.(question, options) : undefined,
    };
    await using host = await project.host({ configFiles: [file], human: hesitant });
    await expect(host.connect("one")).rejects.toMatchObject({
      code: "variable_unset",
      message: "${input:key} was asked for, and nobody answered (.vscode/mcp.json:1)",
    });
    isReady = true;
    const starts = await Promise.all(["one", "two"].map((name) => startOf(project, host, name)));
    expect(starts.map(({ env }) => env["KEY"])).toEqual([secret, secret]);
    expect((await startOf(project, host, "one")).env["KEY"]).toBe(secret);
    expect(questions).toHaveLength(1);
  });

  it("STO-09: a password is asked for once for all time, sealed, until it is forgotten; other answers are not", async () => {
    await using project = await makeProject();
    const program = await recorder(project);
    const entry = (name: string) => ({
      command: process.execPath,
      args: [program, path.join(project.home, name)],
      env: { KEY: "${input:key}", CITY: "${input:city}" },
    });
    const inputs = [...declared, { type: "promptString", id: "city" }];
    const content = { inputs, servers: { one: entry("one"), two: entry("two") } };
    const file = await write(project.home, ".vscode/mcp.json", content);
    // The same id in another file is another input.
    const other = await write(project.home, "other/.vscode/mcp.json", {
      inputs: declared,
      servers: { three: { ...entry("three"), env: { KEY: "${input:key}" } } },
    });
    const { human, questions } = answering(secret);
    const asked = (): readonly string[] => questions.splice(0).map(({ id }) => id);
    const open = (files: readonly string[] = [file]) => project.host({ configFiles: files, human });
    {
      await using host = await open();
      expect((await startOf(project, host, "one")).env).toMatchObject({
        KEY: secret,
        CITY: secret,
      });
      expect(asked()).toEqual(["key", "city"]);
    }
    {
      await using host = await open([other, file]);
      expect((await startOf(project, host, "two")).env["KEY"]).toBe(secret);
      expect(asked()).toEqual(["city"]);
      expect((await startOf(project, host, "three")).env["KEY"]).toBe(secret);
      expect(asked()).toEqual(["key"]);
      expect(await host.forgetInputs("one")).toBe(1);
      await host.reconnect("two").catch(() => undefined);
      expect(asked()).toEqual(["key", "city"]);
      const folder = path.join(project.home, ".plugboard");
      const names = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = names.filter((item) => item.isFile());
      const texts = files.map((item) => readFile(path.join(item.parentPath, item.name), "latin1"));
      expect((await Promise.all(texts)).join("")).not.toContain(secret);
      // The answer stays while another server of the file needs it.
      await host.remove("one");
      await host.reconnect("two").catch(() => undefined);
      expect(asked()).toEqual([]);
      await host.remove("two");
    }
    await write(project.home, ".vscode/mcp.json", content);
    await using host = await open();
    await startOf(project, host, "one");
    expect(asked()).toEqual(["key", "city"]);
  });

  it("a password that cannot be kept is asked for at each start of a host, and works", async () => {
    await using project = await makeProject();
    const file = await write(project.cwd, ".vscode/mcp.json", {
      inputs: declared,
      servers: {
        s: {
          command: process.execPath,
          args: [await recorder(project), path.join(project.home, "s")],
          env: { KEY: "${input:key}" },
        },
      },
    });
    const { human, questions } = answering(secret);
    const env = { ...process.env, PLUGBOARD_SECRET_KEY: "no key" };
    for (const round of [1, 2]) {
      await using host = await project.host({ configFiles: [file], human, env, logger: false });
      const warnings: string[] = [];
      host.on("warning", ({ text }) => warnings.push(text));
      expect((await startOf(project, host, "s")).env["KEY"]).toBe(secret);
      expect(questions).toHaveLength(round);
      expect(warnings.join("\n")).toContain("the answer to an input could not be kept");
    }
  });

  it("ENV-12: what was typed, and what a file held, is masked wherever the server repeats it", async () => {
    await using project = await makeProject();
    const inFile = "f1le-canary-4711";
    await write(project.cwd, ".env", `SETTING=${inFile}\n`);
    const file = await write(project.cwd, ".vscode/mcp.json", {
      inputs: [{ type: "promptString", id: "thing" }],
      servers: {
        s: {
          command: process.execPath,
          args: [telling],
          env: { THING: "${input:thing}" },
          envFile: ".env",
        },
      },
    });
    const { human } = answering(secret);
    await using host = await project.host({ configFiles: [file], human });
    const seen: string[] = [];
    host.on("*", (event) => void seen.push(JSON.stringify(event)));
    await host.connect("s");
    const session = host.session({ level: "yolo" });
    const outcome = await session.call("mcp__s__refuse", {});
    const printed = JSON.stringify([outcome, seen, host.logs("s"), host.servers()]);
    expect(printed).toContain("THING");
    expect(printed).not.toContain(secret);
    expect(printed).not.toContain(inFile);
  });

  it("ERR-17: what cannot be loaded is named for what it is", async () => {
    await using project = await makeProject();
    const entry = (value: string) => ({ command: process.execPath, env: { KEY: value } });
    const file = await write(project.cwd, ".vscode/mcp.json", {
      inputs: [{ type: "command", id: "run", command: "x" }, ...declared],
      servers: {
        nobody: entry("${input:key}"),
        command: entry("${input:run}"),
        foreign: entry("${command:pick}"),
        file: { command: process.execPath, envFile: "gone.env" },
      },
    });
    await using host = await project.host({ configFiles: [file] });
    const failure = async (name: string) =>
      await host.connect(name).catch((error: unknown) => error);
    const hint = "name a variable in its place: ${env:NAME}";
    expect(await failure("nobody")).toMatchObject({
      code: "variable_unset",
      message: "${input:key} has to be asked for, and there is nobody to ask (.vscode/mcp.json:1)",
      hint,
    });
    expect(await failure("command")).toMatchObject({
      code: "variable_unset",
      message: expect.stringContaining("runs a command of VS Code") as unknown,
    });
    expect(await failure("foreign")).toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining('"env.KEY" holds "${command:…}", which only') as unknown,
    });
    expect(await failure("file")).toMatchObject({
      code: "config_invalid",
      message: `"envFile" ${project.cwd}/gone.env does not exist (.vscode/mcp.json:1)`,
    });
  });

  it("CFG-46: keeps what it asks for when it is imported", async () => {
    await using project = await makeProject();
    const entry = {
      command: process.execPath,
      args: ["${workspaceFolder}/x", "${env:REGION}"],
      env: { KEY: "${input:key}" },
      envFile: ".env",
    };
    const file = await write(project.cwd, ".vscode/mcp.json", {
      inputs: declared,
      servers: { s: entry },
    });
    await using host = await project.host();
    expect(await host.importConfig({ from: file })).toMatchObject({ imported: ["s"], skipped: [] });
    expect(host.server("s").config).toMatchObject({
      inputs: declared.slice(0, 1),
      transport: { ...entry, envFile: path.join(project.cwd, ".env"), expandArgs: true },
    });
  });
});

describe("references in a project's file", () => {
  it("L1: ask nobody for anything before the server is approved, and show what they want", async () => {
    await using project = await makeProject();
    const entry = { command: process.execPath, env: { KEY: "${input:key}" }, envFile: ".env" };
    await write(project.cwd, ".env", "A=b");
    await write(project.cwd, ".plugboard/mcp.json", { inputs: declared, servers: { s: entry } });
    const { human, questions } = answering(secret);
    await using host = await project.host({ human });
    await expect(host.connect("s")).rejects.toMatchObject({ code: "not_approved" });
    expect(questions).toEqual([]);
    const question = await host.approvalQuestion("s");
    expect(question?.wants).toEqual([{ variable: "input:key", goesTo: "variable KEY" }]);
    expect(question?.details).toContainEqual({
      name: "envFile",
      value: path.join(project.cwd, ".env"),
    });
    await host.approve("s");
    const other = [{ ...declared[0], description: "The password of your bank" }];
    await write(project.cwd, ".plugboard/mcp.json", { inputs: other, servers: { s: entry } });
    await host.reload();
    expect(host.server("s")).toMatchObject({ state: "pending", changedSinceApproval: true });
  });

  it("L1: hand no file of the user's to a server", async () => {
    await using project = await makeProject();
    const { cwd, home } = project;
    const outside = await write(home, "other/.env", `KEY=${secret}`);
    await symlink(outside, path.join(cwd, "link.env"));
    for (const envFile of [outside, "../home/other/.env", "${userHome}/other/.env", "link.env"]) {
      await project.write({ command: process.execPath, envFile });
      await using host = await project.host();
      await host.approve("project");
      await expect(host.connect("project"), envFile).rejects.toMatchObject({
        code: "config_invalid",
        message: expect.stringContaining("lies outside of the project") as unknown,
      });
    }
  });

  it("L2: set nothing that changes what is executed, from a file that nobody was shown", async () => {
    await using project = await makeProject();
    const file = path.join(project.home, ".plugboard", "mcp.json");
    const entry = { command: process.execPath, envFile: "${workspaceFolder}/.env" };
    await write(path.dirname(file), "mcp.json", { servers: { mine: entry } });
    await write(project.cwd, ".env", "NODE_OPTIONS=--require ./evil.js");
    await using host = await project.host();
    await expect(host.connect("mine")).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining('sets "NODE_OPTIONS", which changes what') as unknown,
    });
  });

  it("L1: an approval in one folder is none in another", async () => {
    await using project = await makeProject();
    const entry = {
      command: process.execPath,
      args: ["${workspaceFolder}/server.js"],
      cwd: project.home,
    };
    const states = [];
    for (const folder of ["a", "b"]) {
      const cwd = path.join(project.cwd, folder);
      await write(cwd, ".plugboard/mcp.json", { servers: { s: entry } });
      await using host = await project.host({ cwd });
      states.push(host.server("s").state);
      if (folder === "a") await host.approve("s");
    }
    expect(states).toEqual(["pending", "pending"]);
  });
});

describe("a reference that only another program knows", () => {
  it("ENV-12: shows nothing behind its colon, which may be a secret", async () => {
    await using project = await makeProject();
    const entry = { command: process.execPath, env: { KEY: `\${TOKEN:${secret}}` } };
    await using host = await project.host({ servers: { s: entry } });
    const error: unknown = await host.connect("s").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "config_invalid" });
    expect(inspect([error, host.server("s")], { depth: 9 })).not.toContain(secret);
    expect(JSON.stringify([error, host.server("s")])).not.toContain(secret);
  });
});

describe("a declaration that cannot be used", () => {
  it("keeps no server away", async () => {
    await using project = await makeProject();
    const file = await write(project.cwd, "odd.json", {
      inputs: [{ id: "key", type: "somethingElse" }, { id: 3 }],
      servers: { s: { command: "x", env: { KEY: "${input:key}" } } },
    });
    const { servers, problems } = await loadConfig({ cwd: project.cwd, files: [file] });
    expect(servers).toMatchObject([{ name: "s", inputs: [{ id: "key", type: "promptString" }] }]);
    expect(problems.map(({ severity, field }) => [severity, field])).toEqual([
      ["warning", "inputs.0.type"],
      ["warning", "inputs.1.id"],
    ]);
  });
});
