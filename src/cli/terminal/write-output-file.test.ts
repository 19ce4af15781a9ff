import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { createError } from "../../errors/families.ts";
import { writeOutputFile } from "./write-output-file.ts";

const isWindows = process.platform === "win32";

function inFolder(name: string): string {
  return path.join(mkdtempSync(path.join(tmpdir(), "output-")), name);
}

describe("the file that a command writes", () => {
  it("is made, or replaced as a whole; its mode stays", async () => {
    const file = inFolder("out.ts");
    await writeOutputFile(file, "one");
    expect(readFileSync(file, "utf8")).toBe("one");
    chmodSync(file, 0o600);
    const before = statSync(file);
    await writeOutputFile(file, "two");
    expect(readFileSync(file, "utf8")).toBe("two");
    expect(statSync(file).mode).toBe(before.mode);
    expect(statSync(file).ino).not.toBe(before.ino);
    expect(readdirSync(path.dirname(file))).toEqual(["out.ts"]);
  });

  it.skipIf(isWindows)("may be a link, which stays one", async () => {
    const file = inFolder("real.ts");
    const link = path.join(path.dirname(file), "link.ts");
    writeFileSync(file, "old");
    symlinkSync("real.ts", link);
    await writeOutputFile(link, "new");
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });

  it.skipIf(isWindows)("may be a pipe, which is written to and not replaced", async () => {
    const pipe = inFolder("pipe");
    execFileSync("mkfifo", [pipe]);
    const [text] = await Promise.all([readFile(pipe, "utf8"), writeOutputFile(pipe, "through")]);
    expect(text).toBe("through");
    expect(lstatSync(pipe).isFIFO()).toBe(true);
  });

  it("that cannot be written is named with the reason, and nothing is left beside it", async () => {
    const file = inFolder("missing/out.ts");
    const folder = path.dirname(path.dirname(file));
    for (const [target, reason] of [
      [file, "its folder does not exist"],
      [folder, "it is a folder"],
    ] as const)
      await expect(writeOutputFile(target, "x")).rejects.toMatchObject({
        code: "invalid_arguments",
        message: `cannot write "${target}": ${reason}`,
      });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("stays as it was when what is to be written stops coming", async () => {
    const file = inFolder("trail");
    writeFileSync(file, "before");
    const stopped = createError("cancelled", "stopped half-way");
    async function* pieces(): AsyncGenerator<string> {
      yield "one\n";
      throw await Promise.resolve(stopped);
    }
    await expect(writeOutputFile(file, pieces())).rejects.toBe(stopped);
    expect(readFileSync(file, "utf8")).toBe("before");
    expect(readdirSync(path.dirname(file))).toEqual(["trail"]);
  });

  it("is written in pieces, with the mode of a new file", async () => {
    const file = inFolder("trail");
    async function* pieces(): AsyncGenerator<string> {
      yield "one\n";
      yield await Promise.resolve("two\n");
    }
    await writeOutputFile(file, pieces(), 0o600);
    expect(readFileSync(file, "utf8")).toBe("one\ntwo\n");
    if (!isWindows) expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});
