import { existsSync, mkdirSync, mkdtempSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { makeFolder } from "./make-folder.ts";

function place(...names: string[]): string {
  return path.join(mkdtempSync(path.join(tmpdir(), "folder-")), ...names);
}

describe("a folder that is made", () => {
  it("is there with those above it, closed as was asked", async () => {
    const folder = place("a", "b", "c");
    await makeFolder(folder, 0o700);
    await makeFolder(folder, 0o700);
    for (const one of [folder, path.dirname(folder)])
      expect(statSync(one).mode & 0o777).toBe(process.platform === "win32" ? 0o666 : 0o700);
  });

  it("may be behind a link", async () => {
    const real = place("real");
    mkdirSync(real);
    const link = path.join(path.dirname(real), "link");
    symlinkSync(real, link, "junction");
    await makeFolder(link);
    await makeFolder(path.join(link, "inside"));
    expect(existsSync(path.join(real, "inside"))).toBe(true);
  });

  it("is refused below and in place of a file", async () => {
    const file = place("file");
    writeFileSync(file, "");
    await expect(makeFolder(file)).rejects.toMatchObject({ code: "EEXIST" });
    await expect(makeFolder(path.join(file, "inside"))).rejects.toHaveProperty("code");
  });

  it.skipIf(process.platform !== "linux")(
    "is refused, and not tried for ever, where nothing can be made",
    async () => {
      await expect(makeFolder("/proc/nope/deep/folder")).rejects.toMatchObject({ code: "ENOENT" });
    },
  );
});
