import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { decodeBase64, fileNameOf, savePieces } from "./write-pieces.ts";

const folder = (): string => mkdtempSync(path.join(tmpdir(), "pieces-"));
const text = (name: string, content = "x") => ({ name, mimeType: undefined, content });

describe("a file for what a server sent", () => {
  it.each([
    ["file:///data/users.csv", "users.csv"],
    ["demo://resource/1", "1.txt"],
    ["file:///a/../../../etc/passwd", "passwd.txt"],
    ["x://y/..", "content.txt"],
    ["x://y/.bashrc", "bashrc.txt"],
    [String.raw`c:\\temp\\evil.exe`, "evil.exe"],
    ["x://y/a b\u0000\u202Ec?q=1#z", "a-b-c.txt"],
    ["x://y/NUL", "_NUL.txt"],
    ["", "content.txt"],
    [`x://${"n".repeat(500)}`, `${"n".repeat(100)}.txt`],
  ])("%j becomes %s: no folder, nothing hidden", (name, expected) => {
    expect(fileNameOf(text(name))).toBe(expected);
  });

  it("ends as its type says", () => {
    const content = new Uint8Array();
    expect(fileNameOf({ name: "a/b", mimeType: "image/PNG; q=1", content })).toBe("b.png");
    expect(fileNameOf({ name: "a/b", mimeType: "x/y", content })).toBe("b.bin");
  });

  it("replaces no file in a folder, and makes the folder", async () => {
    const output = `${path.join(folder(), "new")}/`;
    mkdirSync(output);
    writeFileSync(path.join(output, "a.txt"), "mine");
    const files = await savePieces(output, [text("x/a"), text("y/a", "z")]);
    expect(files.map((file) => path.basename(file))).toEqual(["a-2.txt", "a-3.txt"]);
    expect(readFileSync(path.join(output, "a.txt"), "utf8")).toBe("mine");
    const [deep = ""] = await savePieces(`${path.join(folder(), "deep/er")}/`, [text("a")]);
    expect(existsSync(deep)).toBe(true);
  });

  it("takes one content where a file is named, and refuses several", async () => {
    const file = path.join(folder(), "out");
    await expect(savePieces(file, [text("a"), text("b")])).rejects.toMatchObject({
      code: "invalid_arguments",
      message: expect.stringContaining("there are 2 contents"),
    });
    expect(existsSync(file)).toBe(false);
    const bytes = new Uint8Array([0, 255, 27]);
    expect(await savePieces(file, [{ name: "a", mimeType: undefined, content: bytes }])).toEqual([
      file,
    ]);
    expect(new Uint8Array(readFileSync(file))).toEqual(bytes);
  });

  it("is made of base64 and nothing else", () => {
    expect([...decodeBase64("s", "AP8b\n")]).toEqual([0, 255, 27]);
    expect(() => decodeBase64("s", "no base64!")).toThrow("not base64");
  });
});
