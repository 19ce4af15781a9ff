import { chmod, chown, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { environmentMark, type ResidentPlace, residentPlace } from "./ground.ts";
import { makeFolders, readRecord, removeRecord, writeRecord } from "./resident-record.ts";

async function place(): Promise<ResidentPlace> {
  const home = await mkdtemp(path.join(tmpdir(), "resident-"));
  onTestFinished(() => rm(home, { recursive: true }));
  return residentPlace({ home, cwd: home });
}

const record = { token: "t", pid: 4711 };

describe("the record of a host that runs for others", () => {
  it("is found by whoever has the same folder, files, store and version", async () => {
    const home = await mkdtemp(path.join(tmpdir(), "resident-"));
    onTestFinished(() => rm(home, { recursive: true }));
    const one = residentPlace({ home, cwd: home });
    expect(residentPlace({ home, cwd: path.join(home, ".") })).toEqual(one);
    const others = [
      residentPlace({ home, cwd: tmpdir() }),
      residentPlace({ home, cwd: home, configFiles: ["own.json"] }),
      residentPlace({ home, cwd: home, store: ":memory:" }),
      residentPlace({ home: tmpdir(), cwd: home }),
      // Two versions share nothing: what they say to each other may differ.
      residentPlace({ home, cwd: home }, "0.0.0-other"),
    ];
    expect(others.map(({ record: file }) => file)).not.toContain(one.record);
    await makeFolders(one);
    await writeRecord(one, record);
    expect(await readRecord(one)).toEqual({ ...record, path: one.socket });
  });

  it("is not used when others could have read or written it", async () => {
    const found = await place();
    await makeFolders(found);
    await writeRecord(found, record);
    await chmod(found.record, 0o644);
    expect(await readRecord(found)).toBeUndefined();
    await chmod(found.record, 0o600);
    expect(await readRecord(found)).toBeDefined();
    await chmod(found.folder, 0o755);
    expect(await readRecord(found)).toBeUndefined();
    await expect(makeFolders(found)).rejects.toMatchObject({ code: "config_invalid" });
  });

  it.runIf(process.geteuid?.() === 0)("is not used when it belongs to another user", async () => {
    const found = await place();
    await makeFolders(found);
    await writeRecord(found, record);
    await chown(found.record, 12_345, 12_345);
    expect(await readRecord(found)).toBeUndefined();
  });

  it("is not followed through a link, and what is no record is none", async () => {
    const found = await place();
    await makeFolders(found);
    const elsewhere = path.join(found.folder, "other.json");
    await writeFile(elsewhere, JSON.stringify(record), { mode: 0o600 });
    await symlink(elsewhere, found.record);
    expect(await readRecord(found)).toBeUndefined();
    await rm(found.record);
    await writeFile(found.record, "{ not JSON", { mode: 0o600 });
    expect(await readRecord(found)).toBeUndefined();
  });

  it("is taken away by the host that wrote it, and by no other", async () => {
    const found = await place();
    await makeFolders(found);
    await writeRecord(found, record);
    await removeRecord(found, "another token");
    expect(await readRecord(found)).toBeDefined();
    await removeRecord(found, record.token);
    expect(await readRecord(found)).toBeUndefined();
  });

  it("has a socket with a short path also in a deep home", async () => {
    const deep = path.join(tmpdir(), "x".repeat(120));
    const { socket } = residentPlace({ home: deep, cwd: tmpdir() });
    expect(Buffer.byteLength(socket)).toBeLessThan(104);
  });
});

describe("the mark of an environment", () => {
  it("is the same for the same values, and tells none of them", () => {
    const mark = environmentMark(["B", "A"], { A: "secret", B: "2" }, "token");
    expect(environmentMark(["A", "B"], { B: "2", A: "secret", C: "3" }, "token")).toBe(mark);
    expect(environmentMark(["A", "B"], { A: "secret" }, "token")).not.toBe(mark);
    expect(environmentMark(["A", "B"], { A: "secret", B: "2" }, "other")).not.toBe(mark);
    expect(mark).not.toContain("secret");
  });
});
