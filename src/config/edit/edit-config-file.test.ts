import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { withFileLock } from "../files/file-lock.ts";
import { editConfigFile } from "./edit-config-file.ts";

const entry = { command: "run" };
const createFolder = (): string => realpathSync(mkdtempSync(path.join(tmpdir(), "edit-")));
const namesIn = (file: string): string[] =>
  Object.keys((JSON.parse(readFileSync(file, "utf8")) as { servers: object }).servers);

/** The id of a process that certainly no longer runs. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  return child.pid ?? 0;
}

describe("editing a file", () => {
  it("CFG-01: folder and file are created, readable by the owner alone", async () => {
    const file = path.join(createFolder(), "new", ".plugboard", "mcp.json");
    const result = await editConfigFile(file, { action: "add", name: "a", entry });
    expect(result).toEqual({ path: file, isCreated: true, isChanged: true });
    expect(namesIn(file)).toEqual(["a"]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(path.dirname(file))).toEqual(["mcp.json"]);
  });

  it("CFG-01: the mode of an existing file is kept", async () => {
    const file = path.join(createFolder(), "mcp.json");
    writeFileSync(file, "{}");
    chmodSync(file, 0o664);
    await editConfigFile(file, { action: "add", name: "a", entry });
    expect(statSync(file).mode & 0o777).toBe(0o664);
  });

  it("CFG-01: a link stays a link, and its target is written and named", async () => {
    const folder = createFolder();
    const target = path.join(folder, "real.json");
    const file = path.join(folder, "mcp.json");
    writeFileSync(target, "{}");
    symlinkSync(target, file);
    const result = await editConfigFile(file, { action: "add", name: "a", entry });
    expect(result.path).toBe(target);
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(namesIn(target)).toEqual(["a"]);
  });

  it("CFG-42: a link to nowhere, a folder and a broken file are refused and stay as they are", async () => {
    const folder = createFolder();
    const broken = path.join(folder, "broken.json");
    writeFileSync(broken, '{ "servers": ');
    symlinkSync(path.join(folder, "nowhere"), path.join(folder, "link.json"));
    mkdirSync(path.join(folder, "directory.json"));
    for (const name of ["broken.json", "link.json", "directory.json"])
      await expect(
        editConfigFile(path.join(folder, name), { action: "add", name: "a", entry }),
      ).rejects.toMatchObject({ code: "config_invalid" });
    expect(readFileSync(broken, "utf8")).toBe('{ "servers": ');
    expect(readdirSync(folder).toSorted()).toEqual(["broken.json", "directory.json", "link.json"]);
  });

  it("CFG-42: a folder that cannot be made is an error with its reason", async () => {
    const file = path.join("/dev/null", "mcp.json");
    await expect(editConfigFile(file, { action: "add", name: "a", entry })).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining("ENOTDIR"),
    });
  });

  it("CFG-11: an edit that changes nothing writes nothing", async () => {
    const file = path.join(createFolder(), "mcp.json");
    await editConfigFile(file, { action: "add", name: "a", entry });
    const { mtimeMs } = statSync(file);
    const result = await editConfigFile(file, { action: "enable", name: "a" });
    expect(result.isChanged).toBe(false);
    expect(statSync(file).mtimeMs).toBe(mtimeMs);
  });

  it("CFG-01: a lock left by a process that died is taken over", async () => {
    const file = path.join(createFolder(), "mcp.json");
    const holder = { pid: await deadPid(), host: hostname(), token: "left-behind" };
    writeFileSync(`${file}.lock`, JSON.stringify(holder));
    await editConfigFile(file, { action: "add", name: "a", entry });
    expect(namesIn(file)).toEqual(["a"]);
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  it("CFG-01: so is an old lock of another machine, whatever it holds", async () => {
    const file = path.join(createFolder(), "mcp.json");
    writeFileSync(`${file}.lock`, "not even JSON");
    utimesSync(`${file}.lock`, new Date(0), new Date(0));
    await editConfigFile(file, { action: "add", name: "a", entry });
    expect(readdirSync(path.dirname(file))).toEqual(["mcp.json"]);
  });

  it("CFG-01: so is a lock that is dated in the future, whoever holds it", async () => {
    const file = path.join(createFolder(), "mcp.json");
    const holder = { pid: process.pid, host: hostname(), token: "from-tomorrow" };
    writeFileSync(`${file}.lock`, JSON.stringify(holder));
    const tomorrow = new Date(Date.now() + 86_400_000);
    utimesSync(`${file}.lock`, tomorrow, tomorrow);
    await editConfigFile(file, { action: "add", name: "a", entry });
    expect(readdirSync(path.dirname(file))).toEqual(["mcp.json"]);
  });

  it("CFG-01: a lock that is lost is noticed, and not removed from its new owner", async () => {
    const file = path.join(createFolder(), "mcp.json");
    const foreign = JSON.stringify({ pid: process.pid, host: hostname(), token: "foreign" });
    await withFileLock(file, async (lock) => {
      expect(await lock.isHeld()).toBe(true);
      writeFileSync(`${file}.lock`, foreign);
      expect(await lock.isHeld()).toBe(false);
    });
    expect(readFileSync(`${file}.lock`, "utf8")).toBe(foreign);
  });

  it("CFG-01: processes that edit at the same time lose nothing", async () => {
    const file = path.join(createFolder(), "mcp.json");
    const module = new URL("./edit-config-file.ts", import.meta.url).href;
    const script = `
      const { editConfigFile } = await import(${JSON.stringify(module)});
      const [, who] = process.argv;
      process.stdout.write("ready");
      process.stdin.once("data", async () => {
        for (let i = 0; i < 12; i += 1)
          await editConfigFile(${JSON.stringify(file)}, {
            action: "add", name: who + "-" + i, entry: { command: "run" },
          });
        process.exit(0);
      });`;
    const children = ["a", "b", "c", "d"].map((who): ChildProcess =>
      spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script, who], {
        cwd: new URL("../../../", import.meta.url),
        stdio: ["pipe", "pipe", "inherit"],
      }),
    );
    await Promise.all(children.map((child) => once(child.stdout as NodeJS.ReadableStream, "data")));
    const exits = children.map((child) => once(child, "exit"));
    for (const child of children) child.stdin?.write("go");
    expect((await Promise.all(exits)).map(([code]: unknown[]) => code)).toEqual([0, 0, 0, 0]);
    expect(namesIn(file)).toHaveLength(48);
    expect(readdirSync(path.dirname(file))).toEqual(["mcp.json"]);
  });
});
