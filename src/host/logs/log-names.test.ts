import path from "node:path";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { encodeLogName, logFilesOf, serverOfLogFile } from "./log-names.ts";

const folder = path.resolve("/logs");
const names = fc.oneof(
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 128 }),
  fc.string({
    unit: fc.constantFrom("a", "A", ".", "/", "\\", "%", "~", "é", "e\u0301", "2", "e"),
  }),
);

describe("file names of logs", () => {
  it("are plain for plain names", () => {
    expect(logFilesOf(folder, "server-files_2")).toEqual({
      current: path.join(folder, "server-files_2.log"),
      older: path.join(folder, "server-files_2.log.1"),
    });
  });

  it.each([
    "../../etc/passwd",
    "..",
    ".",
    "/etc/x",
    String.raw`..\x`,
    "a/b",
    ".hidden",
    "nul",
    "com1",
  ])("I6: %j leads nowhere but into the folder", (name) => {
    const { current } = logFilesOf(folder, name);
    expect(path.dirname(current)).toBe(folder);
    expect(path.basename(current)).toMatch(/^(?!nul\.|com1\.)[a-z0-9_%~-]+\.log$/);
    expect(serverOfLogFile(path.basename(current))).toBe(name);
  });

  it("differ where names do, also on a file system that ignores case and composition, and give the name back", () => {
    const folded = (name: string): string => encodeLogName(name).normalize("NFC").toLowerCase();
    fc.assert(
      fc.property(names, names, (one, other) => {
        const isSame = Buffer.from(one).equals(Buffer.from(other));
        expect(folded(one) === folded(other)).toBe(isSame);
        expect(encodeLogName(one)).toMatch(/^[a-z0-9_%~-]*$/);
        expect(encodeLogName(one).length).toBeLessThan(200);
        const isShortened = encodeLogName(one).includes("~");
        const found = serverOfLogFile(`${encodeLogName(one)}.log`);
        if (one !== "" && !isShortened) expect(found).toBe(Buffer.from(one).toString());
      }),
    );
  });

  it("of other files stand for no server", () => {
    for (const file of [
      "x.lock",
      "x.log.lock",
      "x",
      "X.log",
      "%4.log",
      "%61.log",
      "a b.log",
      ".log",
    ])
      expect(serverOfLogFile(file), file).toBeUndefined();
  });
});
