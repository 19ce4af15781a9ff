import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { readJsonObject, readCallWords } from "./call-words.ts";

const { signal } = new AbortController();
const folder = mkdtempSync(path.join(tmpdir(), "call-words-"));

function fileWith(content: string | Buffer): string {
  const file = path.join(folder, `${Math.random()}`);
  writeFileSync(file, content);
  return file;
}

const refusal = (message: string) =>
  expect.objectContaining({ code: "invalid_arguments", message });

describe("arguments as they are typed", () => {
  it("CLI-14: are text, JSON or the content of a file", async () => {
    const file = fileWith('{"x":[1]}\n');
    const words = ["a=2", "b:=[1,2]", "c=x=y", "d=", `e=@${file}`, `f:=@${file}`, "g-h.i=1"];
    expect(await readCallWords(words, signal)).toEqual([
      { key: "a", kind: "text", text: "2" },
      { key: "b", kind: "json", value: [1, 2] },
      { key: "c", kind: "text", text: "x=y" },
      { key: "d", kind: "text", text: "" },
      { key: "e", kind: "text", text: '{"x":[1]}\n' },
      { key: "f", kind: "json", value: { x: [1] } },
      { key: "g-h.i", kind: "text", text: "1" },
    ]);
  });

  it.skipIf(process.platform === "win32")(
    "come through a pipe, until nobody wants them",
    async () => {
      const pipe = path.join(folder, "pipe");
      execFileSync("mkfifo", [pipe]);
      const abort = new AbortController();
      const reading = readCallWords([`a=@${pipe}`], signal);
      const writer = await open(pipe, "w");
      await writer.write("one ");
      await writer.write("two");
      await writer.close();
      expect(await reading).toEqual([{ key: "a", kind: "text", text: "one two" }]);
      const waiting = readCallWords([`a=@${pipe}`], abort.signal);
      abort.abort();
      await expect(waiting).rejects.toMatchObject({ code: "cancelled" });
    },
  );

  it("CLI-13: are refused without a name, given twice, or when they are not what they claim", async () => {
    await expect(readCallWords(["loose"], signal)).rejects.toEqual(
      refusal('"loose" is no argument'),
    );
    await expect(readCallWords(["=x"], signal)).rejects.toEqual(refusal('"=x" is no argument'));
    await expect(readCallWords(["a=1", "a=2"], signal)).rejects.toEqual(
      refusal('the argument "a" is given twice'),
    );
    await expect(readCallWords(["a:={"], signal)).rejects.toEqual(
      refusal('the value of "a" is not valid JSON'),
    );
    await expect(readCallWords(["a=@/no/such/file"], signal)).rejects.toEqual(
      refusal('the file "/no/such/file" does not exist'),
    );
    await expect(readCallWords([`a=@${folder}`], signal)).rejects.toEqual(
      refusal(`the file "${folder}" cannot be read (EISDIR)`),
    );
    const bytes = fileWith(Buffer.from([0xff, 0xfe]));
    await expect(readCallWords([`a=@${bytes}`], signal)).rejects.toEqual(
      refusal(`the file "${bytes}" is not UTF-8 text`),
    );
  });

  it("a word that looks like a credential is not repeated in the message", async () => {
    const secret = `ghp_${"a".repeat(30)}`;
    await expect(readCallWords([secret], signal)).rejects.toEqual(
      refusal('"[redacted]" is no argument'),
    );
  });

  it.skipIf(process.platform === "win32")("a file without end is given up", async () => {
    await expect(readCallWords(["a=@/dev/zero"], signal)).rejects.toEqual(
      refusal('the file "/dev/zero" is larger than 10 MiB'),
    );
  });

  it("reading stops when the user stops it", async () => {
    const file = fileWith("x".repeat(1_000_000));
    await expect(readCallWords([`a=@${file}`], AbortSignal.abort())).rejects.toEqual(
      expect.objectContaining({ code: "cancelled" }),
    );
  });
});

describe("--args", () => {
  it("CLI-14: is a JSON object, given as it stands or in a file", async () => {
    expect(await readJsonObject('{"a":1}', "--args", signal)).toEqual({ a: 1 });
    expect(await readJsonObject(`@${fileWith('{"a":2}')}`, "--args", signal)).toEqual({ a: 2 });
  });

  it.each(["[1]", "null", "3", "{", ""])("CLI-13: %j is refused", async (text) => {
    await expect(readJsonObject(text, "--args", signal)).rejects.toEqual(
      expect.objectContaining({ code: "invalid_arguments" }),
    );
  });
});
