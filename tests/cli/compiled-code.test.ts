import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { keptFile, keptScripts } from "./kept-code.ts";
import { CliSandbox } from "./run-cli.ts";

const root = path.resolve(import.meta.dirname, "../..");
const headline = "NAME";
const otherHeadline = "NAMF";
/** The time that npm gives to every file of every package. */
const packedTime = new Date("1985-10-26T08:15:00Z");

/**
 * A home with one server, and the built command line in a folder that may be changed. The title of a column tells which
 * code has run.
 */
class OwnPackage extends CliSandbox {
  readonly #folder = path.join(this.root, "package");
  readonly #script = path.join(this.#folder, "dist/cli/list.cjs");
  readonly #main = path.join(this.#folder, "dist/cli/main.cjs");

  constructor() {
    super({ isCodeLent: false });
    for (const part of ["bin", "dist/cli", "package.json"])
      cpSync(path.join(root, part), path.join(this.#folder, part), { recursive: true });
    symlinkSync(path.join(root, "node_modules"), path.join(this.#folder, "node_modules"));
    for (const file of [this.#script, this.#main]) utimesSync(file, packedTime, packedTime);
    this.configureUser({ notes: { command: "true" } });
  }

  get cache(): string {
    return path.dirname(this.file);
  }

  get file(): string {
    return keptFile(this.home, "list");
  }

  /** The head of the list that a command prints; it must work, whatever it finds. */
  async list(env: Readonly<Record<string, string>> = {}): Promise<string> {
    const command = `'${process.execPath}' '${path.join(this.#folder, "bin/plugboard.js")}' list`;
    const { stdout, stderr, exitCode } = await this.type(command, env);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    return stdout.slice(0, headline.length);
  }

  /** Changes the code in a way that cannot be seen from outside: as long as before, and of the same time. */
  changeUnseen(): void {
    this.change();
    utimesSync(this.#script, packedTime, packedTime);
  }

  change(): void {
    const text = readFileSync(this.#script, "utf8");
    expect(text).toContain('title: "NAME"');
    writeFileSync(this.#script, text.replace('title: "NAME"', 'title: "NAMF"'));
  }

  /** What an update does that leaves the times as they are, as npm does. */
  update(): void {
    this.changeUnseen();
    const text = readFileSync(this.#main, "utf8");
    expect(text).toMatch(/^\/\/ build [\da-f]{64}\n/);
    writeFileSync(this.#main, text.replace(/[\da-f]{64}/, "0".repeat(64)));
    utimesSync(this.#main, packedTime, packedTime);
  }

  /** Whether compiled code is used that was kept before: that of a headline which the scripts no longer have. */
  async usesKept(): Promise<boolean> {
    const head = await this.list();
    expect([headline, otherHeadline]).toContain(head);
    return head === headline;
  }
}

/** A package whose code was changed after its compiled form was kept. */
async function changedPackage(): Promise<OwnPackage> {
  const sandbox = new OwnPackage();
  expect(await sandbox.list()).toBe(headline);
  sandbox.changeUnseen();
  return sandbox;
}

describe("the compiled code of commands", () => {
  it("is kept in the user's folder, for the user alone, and used by the next command", async () => {
    const sandbox = await changedPackage();
    expect(keptScripts(sandbox.home, "list")).toContain("./list.cjs");
    expect(await sandbox.usesKept()).toBe(true);
    if (process.platform === "win32") return;
    expect(statSync(sandbox.cache).mode & 0o777).toBe(0o700);
    expect(statSync(sandbox.file).mode & 0o777).toBe(0o600);
  });

  it("is not written again by a command that found all of it", async () => {
    const sandbox = new OwnPackage();
    await sandbox.list();
    const { ino } = statSync(sandbox.file);
    await sandbox.list();
    expect(statSync(sandbox.file).ino).toBe(ino);
    expect(readdirSync(sandbox.cache)).toEqual([path.basename(sandbox.file)]);
  });

  it("grows by what a command with other options loads", async () => {
    const sandbox = new CliSandbox({ isCodeLent: false }).configureUser({});
    await sandbox.runAsProcess(["completion", "bash"]);
    const before = keptScripts(sandbox.home, "other");
    await sandbox.runAsProcess(["consent", "list"]);
    expect(keptScripts(sandbox.home, "other")).toEqual(expect.arrayContaining([...before]));
    expect(keptScripts(sandbox.home, "other").length).toBeGreaterThan(before.length);
  });

  it("is not kept of a command that fails, which runs less of the code", async () => {
    const sandbox = new CliSandbox({ isCodeLent: false }).configureUser({});
    await sandbox.runAsProcess(["list", "--unknown"]);
    expect(existsSync(keptFile(sandbox.home, "list"))).toBe(false);
  });

  it("is not used after an update, and not after a file was edited", async () => {
    const updated = new OwnPackage();
    await updated.list();
    updated.update();
    expect(await updated.list()).toBe(otherHeadline);
    const edited = new OwnPackage();
    await edited.list();
    edited.change();
    expect(await edited.list()).toBe(otherHeadline);
    // It is kept anew.
    const { ino } = statSync(edited.file);
    expect(await edited.list()).toBe(otherHeadline);
    expect(statSync(edited.file).ino).toBe(ino);
  });

  describe("in a file that is damaged or none of ours", () => {
    const flipped = (kept: Buffer, at: number): Buffer => {
      kept[at] = (kept[at] ?? 0) ^ 0x41;
      return kept;
    };
    const damaged: readonly (readonly [string, (kept: Buffer) => Buffer | string])[] = [
      ["empty", () => ""],
      ["cut short", (kept) => kept.subarray(0, Math.floor(kept.length / 3))],
      ["one half of itself", (kept) => kept.subarray(0, kept.length / 2)],
      ["wrong in a byte of its header", (kept) => flipped(kept, 10)],
      ["wrong in a byte in the middle", (kept) => flipped(kept, Math.floor(kept.length / 4))],
      ["wrong in its last byte", (kept) => flipped(kept, kept.length - 1)],
      ["zeros at the end", (kept) => kept.fill(0, kept.length - 8_192)],
      ["text", () => "a text\na text\n"],
      ["JSON of another shape", () => "{}\n{}\n"],
      ["rows of another shape", () => "[[1,2,3]]\n[[1,2,3]]\n"],
    ];

    it.each(damaged)("%s: it is replaced", async (_, damage) => {
      const sandbox = new OwnPackage();
      await sandbox.list();
      writeFileSync(sandbox.file, damage(readFileSync(sandbox.file)));
      const { ino } = statSync(sandbox.file);
      expect(await sandbox.list()).toBe(headline);
      expect(statSync(sandbox.file).ino).not.toBe(ino);
      expect(keptScripts(sandbox.home, "list")).toContain("./list.cjs");
    });

    it("a folder in place of the file, or a file in place of the folder, is left alone", async () => {
      const file = new OwnPackage();
      mkdirSync(file.file, { recursive: true, mode: 0o700 });
      expect(await file.list()).toBe(headline);
      expect(readdirSync(file.cache)).toEqual([path.basename(file.file)]);
      const folder = new OwnPackage();
      writeFileSync(folder.cache, "");
      expect(await folder.list()).toBe(headline);
      expect(statSync(folder.cache).isFile()).toBe(true);
    });
  });

  describe.skipIf(process.platform === "win32")("that somebody else may have written", () => {
    it("is not used from a folder or a file that others can write", async () => {
      const sandbox = await changedPackage();
      chmodSync(sandbox.cache, 0o777);
      expect(await sandbox.usesKept()).toBe(false);
      chmodSync(sandbox.cache, 0o700);
      chmodSync(sandbox.file, 0o620);
      expect(await sandbox.usesKept()).toBe(false);
    });

    it("is not written to a folder that others can write", async () => {
      const sandbox = new OwnPackage();
      mkdirSync(sandbox.cache);
      chmodSync(sandbox.cache, 0o770);
      expect(await sandbox.list()).toBe(headline);
      expect(readdirSync(sandbox.cache)).toEqual([]);
    });

    it("is not used through a link", async () => {
      const sandbox = await changedPackage();
      const elsewhere = path.join(sandbox.root, "elsewhere");
      cpSync(sandbox.cache, elsewhere, { recursive: true });
      rmSync(sandbox.file);
      symlinkSync(path.join(elsewhere, path.basename(sandbox.file)), sandbox.file);
      expect(await sandbox.usesKept()).toBe(false);
      rmSync(sandbox.cache, { recursive: true });
      symlinkSync(elsewhere, sandbox.cache);
      expect(await sandbox.usesKept()).toBe(false);
    });

    it.skipIf(process.getuid?.() !== 0)("is not used if another user owns it", async () => {
      const ofFile = await changedPackage();
      chownSync(ofFile.file, 12_345, 12_345);
      expect(await ofFile.usesKept()).toBe(false);
      const ofFolder = await changedPackage();
      chownSync(ofFolder.cache, 12_345, 12_345);
      expect(await ofFolder.usesKept()).toBe(false);
    });
  });

  it("is kept whole by commands that run at the same time", async () => {
    const sandbox = new OwnPackage();
    const heads = await Promise.all(Array.from({ length: 6 }, () => sandbox.list()));
    expect(heads).toEqual(heads.map(() => headline));
    expect(readdirSync(sandbox.cache)).toEqual([path.basename(sandbox.file)]);
    sandbox.changeUnseen();
    expect(await sandbox.usesKept()).toBe(true);
  });

  it("is removed when nobody has used it for a month", async () => {
    const sandbox = new OwnPackage();
    mkdirSync(sandbox.cache, { mode: 0o700 });
    const long = path.join(sandbox.cache, "list-v18.0.0-x64.code");
    const short = path.join(sandbox.cache, "list-v19.0.0-x64.code");
    const foreign = path.join(sandbox.cache, "something");
    const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);
    for (const file of [long, short, foreign]) writeFileSync(file, "");
    utimesSync(long, daysAgo(31), daysAgo(31));
    utimesSync(short, daysAgo(29), daysAgo(29));
    utimesSync(foreign, daysAgo(31), daysAgo(31));
    await sandbox.list();
    const left = [short, foreign, sandbox.file].map((file) => path.basename(file));
    expect(readdirSync(sandbox.cache).toSorted()).toEqual(left.toSorted());
  });

  it("is kept nowhere where there is no folder for it, or none that can be written", async () => {
    const sandbox = new OwnPackage();
    const home = path.join(sandbox.root, "nowhere");
    await sandbox.list({ HOME: home, USERPROFILE: home });
    expect(existsSync(home)).toBe(false);
    chmodSync(path.join(sandbox.home, ".plugboard"), 0o500);
    expect(await sandbox.list()).toBe(headline);
    chmodSync(path.join(sandbox.home, ".plugboard"), 0o700);
  });

  it("follows PLUGBOARD_HOME", async () => {
    const sandbox = new OwnPackage();
    const folder = path.join(sandbox.root, "own");
    mkdirSync(folder);
    await sandbox.type("plugboard --help", { PLUGBOARD_HOME: folder });
    expect(readdirSync(folder)).toEqual(["cache"]);
    expect(existsSync(sandbox.cache)).toBe(false);
  });
});
