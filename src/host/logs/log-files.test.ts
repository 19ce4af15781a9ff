import { execFileSync } from "node:child_process";
import { fork } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { listLogNames, LogFiles } from "./log-files.ts";

function makeFiles(maxFileBytes = 10_000) {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), "logs-")), "a", "logs");
  const files = new LogFiles({ folder, maxFileBytes, now: () => Date.now() });
  const read = (name: string): string => readFileSync(path.join(folder, name), "utf8");
  return { folder, files, read };
}

const modeOf = (file: string): number => statSync(file).mode & 0o777;
const isRoot = process.geteuid?.() === 0;

describe("files of logs", () => {
  it("I6: are closed to other users, and so is their folder", async () => {
    const { folder, files } = makeFiles();
    await files.append("s", "one\n");
    expect([modeOf(folder), modeOf(path.join(folder, "s.log"))]).toEqual([0o700, 0o600]);
  });

  it("I6: are closed again when somebody has opened them", async () => {
    const { folder, files } = makeFiles();
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    writeFileSync(path.join(folder, "s.log"), "");
    chmodSync(path.join(folder, "s.log"), 0o644);
    await files.append("s", "one\n");
    expect([modeOf(folder), modeOf(path.join(folder, "s.log"))]).toEqual([0o700, 0o600]);
  });

  it("are made with the first line, and not before", async () => {
    const { folder, files } = makeFiles();
    expect(existsSync(folder)).toBe(false);
    expect(await listLogNames(folder)).toEqual([]);
    await files.append("B/x", "one\n");
    await files.append("a", "one\n");
    expect(await listLogNames(folder)).toEqual(["B/x", "a"]);
  });

  it("keep the newest of what is written, in two files of bounded size", async () => {
    const { folder, files, read } = makeFiles(100);
    for (let line = 0; line < 50; line += 1) await files.append("s", `line ${line}, some text\n`);
    expect(readdirSync(folder).toSorted()).toEqual(["s.log", "s.log.1"]);
    const lines = `${read("s.log.1")}${read("s.log")}`.trimEnd().split("\n");
    expect(lines.at(-1)).toBe("line 49, some text");
    const first = Number(/\d+/.exec(lines[0] ?? "")?.[0]);
    expect(lines).toEqual(
      Array.from({ length: 50 - first }, (_, index) => `line ${first + index}, some text`),
    );
    expect(lines.length).toBeGreaterThan(5);
    for (const file of ["s.log", "s.log.1"])
      expect(statSync(path.join(folder, file)).size).toBeLessThanOrEqual(100);
  });

  it("J1: a line that was cut off spoils no other", async () => {
    const { folder, files, read } = makeFiles();
    await files.append("s", "one\n");
    writeFileSync(path.join(folder, "s.log"), "one\nhalf a li");
    await files.append("s", "two\n");
    expect(read("s.log")).toBe("one\nhalf a li\ntwo\n");
  });

  it.each(["link", "dangling link", "folder", "pipe"])(
    "I6: what is no plain file is not written: a %s",
    async (kind) => {
      const { folder, files } = makeFiles();
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const file = path.join(folder, "s.log");
      const other = path.join(folder, "other");
      if (kind !== "dangling link") writeFileSync(other, "mine\n");
      if (kind.endsWith("link")) symlinkSync(other, file);
      else if (kind === "folder") mkdirSync(file);
      else execFileSync("mkfifo", [file]);
      await expect(files.append("s", "one\n")).rejects.toThrow();
      expect(existsSync(other) && readFileSync(other, "utf8")).toBe(
        kind === "dangling link" ? false : "mine\n",
      );
    },
  );

  it("I6: a folder that is a link is not used", async () => {
    const { folder, files } = makeFiles();
    const elsewhere = mkdtempSync(path.join(tmpdir(), "elsewhere-"));
    mkdirSync(path.dirname(folder), { recursive: true });
    symlinkSync(elsewhere, folder);
    await expect(files.append("s", "one\n")).rejects.toThrow("is not a folder");
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it.runIf(isRoot)("I6: what belongs to another user is not used", async () => {
    const { folder, files, read } = makeFiles();
    await files.append("s", "one\n");
    chownSync(path.join(folder, "s.log"), 12_345, 12_345);
    await expect(files.append("s", "two\n")).rejects.toThrow("belongs to another user");
    expect(read("s.log")).toBe("one\n");
    const other = makeFiles();
    mkdirSync(other.folder, { recursive: true, mode: 0o700 });
    chownSync(other.folder, 12_345, 12_345);
    await expect(other.files.append("s", "two\n")).rejects.toThrow("belongs to another user");
  });

  it("of servers that were not used for long are deleted when another one begins", async () => {
    const { folder, files } = makeFiles();
    for (const name of ["old", "recent"]) await files.append(name, "one\n");
    const daysAgo = (days: number): number => Date.now() / 1_000 - days * 86_400;
    utimesSync(path.join(folder, "old.log"), daysAgo(31), daysAgo(31));
    utimesSync(path.join(folder, "recent.log"), daysAgo(29), daysAgo(29));
    writeFileSync(path.join(folder, "note.txt"), "");
    utimesSync(path.join(folder, "note.txt"), daysAgo(99), daysAgo(99));
    await files.append("new", "one\n");
    expect(readdirSync(folder).toSorted()).toEqual(["new.log", "note.txt", "recent.log"]);
  });

  it("J1: take whole lines of several programs at once, across rotations", async () => {
    const { folder } = makeFiles();
    const program = path.join(
      import.meta.dirname,
      "../../../tests/fixtures/programs/append-log.mjs",
    );
    const [writers, lines, maxFileBytes] = [3, 400, 40_000];
    const children = Array.from({ length: writers }, (_, id) =>
      fork(program, [folder, String(maxFileBytes), String(id), String(lines)], {
        execArgv: ["--import", "tsx"],
      }),
    );
    expect(await Promise.all(children.map((child) => once(child, "exit")))).toEqual(
      children.map(() => [0, null]),
    );
    // An empty line, which no reader shows, is written by one who saw half of another's batch.
    const kept = ["s.log.1", "s.log"].flatMap((name) =>
      readFileSync(path.join(folder, name), "utf8").split("\n").filter(Boolean),
    );
    for (const line of kept) expect(line).toMatch(/^\d:\d+:x{60}$/);
    // What each wrote last is there, in its order.
    for (let id = 0; id < writers; id += 1) {
      const own = kept
        .filter((line) => line.startsWith(`${id}:`))
        .map((line) => line.split(":")[1]);
      const first = lines - own.length;
      expect(own).toEqual(Array.from(own, (_, index) => String(first + index)));
    }
    expect(kept.length).toBeGreaterThan(400);
    expect(readdirSync(folder).toSorted()).toEqual(["s.log", "s.log.1"]);
  });
});
