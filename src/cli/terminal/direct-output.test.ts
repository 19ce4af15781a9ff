import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";

import { describe, expect, it } from "vitest";

import { DirectOutput } from "./direct-output.ts";

const folder = (): string => mkdtempSync(path.join(tmpdir(), "output-"));

interface Opened {
  readonly output: DirectOutput;
  /** What the stream that took over was given; undefined while there is none. */
  readonly passedOn: () => string | undefined;
  readonly errors: NodeJS.ErrnoException[];
}

function open(descriptor: number, room = Number.POSITIVE_INFINITY): Opened {
  let stream: PassThrough | undefined;
  const output = new DirectOutput({
    descriptor,
    room,
    openStream: () => (stream = new PassThrough()),
  });
  const errors: NodeJS.ErrnoException[] = [];
  output.on("error", (error) => errors.push(error));
  return {
    output,
    errors,
    passedOn: () => (stream?.read() as Buffer | null | undefined)?.toString(),
  };
}

const flushed = async (output: DirectOutput): Promise<void> =>
  await new Promise((resolve) => output.write("", resolve));

/** The two ends of a pipe that nobody waits for, with the number of bytes that it takes. */
function openPipe(): {
  readonly reader: number;
  readonly writer: number;
  readonly fill: () => number;
} {
  const file = path.join(folder(), "pipe");
  execFileSync("mkfifo", [file]);
  const reader = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(file, constants.O_WRONLY | constants.O_NONBLOCK);
  const fill = (): number => {
    let filled = 0;
    try {
      for (;;) filled += writeSync(writer, Buffer.alloc(4_096, "."));
    } catch {
      return filled;
    }
  };
  return { reader, writer, fill };
}

function readAll(reader: number, bytes: number): string {
  const buffer = Buffer.alloc(bytes);
  let length = 0;
  while (length < bytes) length += readSync(reader, buffer, length, bytes - length, null);
  return buffer.toString();
}

describe("an output without a stream", () => {
  it("writes text and bytes to a file, in order", async () => {
    const file = path.join(folder(), "out");
    const descriptor = openSync(file, "w");
    const { output, passedOn, errors } = open(descriptor);
    output.write("größer\n");
    output.write(new Uint8Array([0, 255]));
    await flushed(output);
    closeSync(descriptor);
    expect(readFileSync(file)).toEqual(
      Buffer.concat([Buffer.from("größer\n"), Buffer.from([0, 255])]),
    );
    expect(passedOn()).toBeUndefined();
    expect(errors).toEqual([]);
  });

  it("leaves what is too much for it to a stream, with all that follows", async () => {
    const file = path.join(folder(), "out");
    const { output, passedOn } = open(openSync(file, "w"), 5);
    output.write("1234");
    output.write("56");
    output.write("7");
    await flushed(output);
    expect([readFileSync(file, "utf8"), passedOn()]).toEqual(["1234", "567"]);
  });

  it.skipIf(process.platform === "win32")(
    "leaves to a stream what a full pipe does not take, from the byte on that it did not take",
    async () => {
      const { reader, writer, fill } = openPipe();
      const filled = fill();
      readAll(reader, 8_192);
      const { output, passedOn } = open(writer);
      const text = "0123456789abcdef".repeat(1_024);
      output.write(text);
      await flushed(output);
      const left = passedOn() ?? "";
      expect(left.length).toBeGreaterThan(0);
      expect(left.length).toBeLessThan(text.length);
      const before = filled - 8_192;
      expect(readAll(reader, before + text.length - left.length).slice(before) + left).toBe(text);
    },
  );

  it.skipIf(process.platform === "win32")(
    "tells once that its reader has gone, and drops the rest",
    async () => {
      const { reader, writer } = openPipe();
      closeSync(reader);
      const { output, errors, passedOn } = open(writer);
      output.write("one");
      expect(errors).toEqual([]);
      output.write("two");
      await flushed(output);
      expect(errors.map(({ code }) => code)).toEqual(["EPIPE"]);
      expect(passedOn()).toBeUndefined();
    },
  );

  it("tells of a descriptor that cannot be written", async () => {
    const { output, errors } = open(
      openSync(path.join(import.meta.dirname, "direct-output.ts"), "r"),
    );
    output.write("text");
    await flushed(output);
    expect(errors.map(({ code }) => code)).toEqual(["EBADF"]);
  });

  it("passes on the errors of the stream that took over", async () => {
    const stream = new PassThrough();
    const output = new DirectOutput({ descriptor: 1, room: 0, openStream: () => stream });
    const errors: Error[] = [];
    output.on("error", (error) => errors.push(error));
    output.write("text");
    output.on("error", (error) => errors.push(error));
    stream.destroy(new Error("gone"));
    await new Promise((resolve) => stream.once("close", resolve));
    expect(errors.map(({ message }) => message)).toEqual(["gone", "gone"]);
  });
});
