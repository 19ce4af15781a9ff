import { execFileSync } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";

import { describe, expect, it } from "vitest";

import { type CheckedLaunch, identifyFile } from "../../isolation/process/checked-launch.ts";
import { type ServerCommand, spawnServer } from "./spawn-server.ts";

const PATH = process.env["PATH"] ?? "";
const hasPython = [
  "/usr/bin/python3",
  ...PATH.split(":").map((it) => path.join(it, "python3")),
].some((file) => existsSync(file));
const makeFolder = (): string => realpathSync(mkdtempSync(path.join(tmpdir(), "spawn-")));

/** What the process wrote before it ended. */
async function output(server: Partial<ServerCommand>): Promise<string> {
  const { child } = await spawnServer({
    serverName: "s",
    command: "true",
    args: [],
    env: { PATH },
    ...server,
  });
  child.stdin.end();
  return (await text(child.stdout)).trim();
}

function writeScript(file: string, body: string): void {
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
}

describe.skipIf(process.platform === "win32")("the file that is started", () => {
  it("L8: is the one behind every link, under the name that is written", async () => {
    const link = path.join(makeFolder(), "my-node");
    symlinkSync(process.execPath, link);
    const script = "console.log(JSON.stringify([process.argv0, process.execPath]))";
    expect(JSON.parse(await output({ command: link, args: ["-e", script] }))).toEqual([
      link,
      realpathSync(process.execPath),
    ]);
  });

  it("L8: a script runs, also behind a link and without a path", async () => {
    const folder = makeFolder();
    const file = path.join(folder, "real.sh");
    writeScript(file, 'echo "$0 $1"');
    symlinkSync(file, path.join(folder, "linked"));
    expect(await output({ command: path.join(folder, "linked"), args: ["x"] })).toBe(`${file} x`);
    const env = { PATH: `${folder}:${PATH}` };
    expect(await output({ command: "linked", args: ["y"], env })).toBe(`${file} y`);
  });

  it("L8: npx runs, which is a link to a script of its package", async () => {
    expect(await output({ command: "npx", args: ["--version"] })).toMatch(/^\d+\.\d+\.\d+/);
  });

  it.skipIf(!hasPython)("L8: a virtual environment of Python is found by its python", async () => {
    const folder = path.join(makeFolder(), "venv");
    execFileSync("python3", ["-m", "venv", "--without-pip", folder]);
    const args = ["-c", "import sys; print(sys.prefix)"];
    expect(await output({ command: path.join(folder, "bin", "python"), args })).toBe(folder);
    const env = { PATH: `${folder}/bin:${PATH}` };
    expect(await output({ command: "python", args, env })).toBe(folder);
  });
});

describe.skipIf(process.platform === "win32")("what was checked", () => {
  interface Place {
    readonly command: string;
    readonly cwd: string;
    readonly checked: CheckedLaunch;
    readonly folder: string;
  }

  /** A program `run` in a folder `work`, both behind links, as a check found them. */
  function makePlace(): Place {
    const folder = makeFolder();
    for (const whose of ["good", "evil"]) {
      mkdirSync(path.join(folder, whose));
      writeScript(path.join(folder, whose, "run"), `echo ${whose} $(pwd)`);
    }
    const [command, cwd] = [path.join(folder, "run"), path.join(folder, "work")];
    symlinkSync(path.join(folder, "good", "run"), command);
    symlinkSync(path.join(folder, "good"), cwd);
    const checked: CheckedLaunch = {
      file: identifyFile(path.join(folder, "good", "run")) ?? "none",
      folder: identifyFile(path.join(folder, "good")) ?? "none",
    };
    return { command, cwd, checked, folder };
  }

  const turn = (link: string, target: string): void => {
    rmSync(link);
    symlinkSync(target, link);
  };
  const refusal = {
    code: "not_approved",
    message: expect.stringContaining("exchanged") as unknown,
  };

  it("L8: is started, in the folder that was checked", async () => {
    const { folder, ...place } = makePlace();
    turn(place.cwd, path.join(folder, "evil"));
    expect(await output(place)).toBe(`good ${path.join(folder, "good")}`);
  });

  it("L8: a link to the program that is turned is refused", async () => {
    const { folder, ...place } = makePlace();
    turn(place.command, path.join(folder, "evil", "run"));
    await expect(output(place)).rejects.toMatchObject(refusal);
  });

  it("L8: another file under the same path is refused", async () => {
    const { folder, ...place } = makePlace();
    renameSync(path.join(folder, "evil", "run"), path.join(folder, "good", "run"));
    await expect(output(place)).rejects.toMatchObject(refusal);
  });

  it("L8: another folder under the same path is refused", async () => {
    const { folder, ...place } = makePlace();
    renameSync(path.join(folder, "good"), path.join(folder, "was"));
    mkdirSync(path.join(folder, "good"));
    renameSync(path.join(folder, "was", "run"), path.join(folder, "good", "run"));
    await expect(output(place)).rejects.toMatchObject(refusal);
  });

  it("L8: a program that was not there when it was checked is refused", async () => {
    const { folder: _folder, ...place } = makePlace();
    const checked: CheckedLaunch = { ...place.checked, file: "none" };
    await expect(output({ ...place, checked })).rejects.toMatchObject(refusal);
  });
});

it("B17: no two processes start in one turn of the loop when each start takes a slice of time", async () => {
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  const turns: number[] = [];
  const started = (): void => {
    turns.push(turn);
    for (const since = performance.now(); performance.now() - since < 11;);
  };
  subscribe("child_process", started);
  setImmediate(count);
  try {
    await Promise.all([output({}), output({}), output({})]);
  } finally {
    isOver = true;
    unsubscribe("child_process", started);
  }
  expect(new Set(turns).size).toBe(turns.length);
  expect(turns).toHaveLength(3);
});
