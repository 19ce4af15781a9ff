import { PassThrough } from "node:stream";

import { describe, expect, it } from "vitest";

import { type OutputStream, Terminal } from "./terminal.ts";

function createTerminal(options: {
  isTTY?: boolean;
  columns?: number;
  env?: Record<string, string>;
}) {
  const { isTTY = false, columns, env = { LANG: "C.UTF-8" } } = options;
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  const asOutput = (stream: PassThrough): OutputStream =>
    Object.assign(stream, { isTTY, ...(columns === undefined ? {} : { columns }) });
  const terminal = new Terminal({
    stdout: asOutput(streams.stdout),
    stderr: asOutput(streams.stderr),
    env,
    platform: "linux",
    color: true,
  });
  return { terminal, ...streams };
}

const hostile = "a\u001B[31mb\u202E";

describe("a result", () => {
  it("goes into a pipe as it is, with one newline at its end", () => {
    const { terminal, stdout } = createTerminal({});
    terminal.data(hostile);
    terminal.data("line\n");
    terminal.data("");
    expect(String(stdout.read())).toBe(`${hostile}\nline\n\n`);
  });

  it("CLI-16: is made safe on a screen", () => {
    const { terminal, stdout } = createTerminal({ isTTY: true });
    terminal.data(hostile);
    expect(String(stdout.read())).toBe("ab\uFFFD\n");
  });
});

describe("a terminal", () => {
  it("gets ASCII when its locale is not UTF-8", () => {
    const { terminal, stderr } = createTerminal({ env: { LANG: "C" } });
    terminal.note("✗ a → b");
    expect(String(stderr.read())).toBe("x a -> b\n");
  });

  it("is never written wider than 100 columns, and a pipe as wide as it takes", () => {
    expect(createTerminal({ isTTY: true, columns: 250 }).terminal.columns).toBe(100);
    expect(createTerminal({ isTTY: true, columns: 80 }).terminal.columns).toBe(80);
    expect(createTerminal({ isTTY: true, columns: 0 }).terminal.columns).toBe(100);
    expect(createTerminal({}).terminal.columns).toBe(Number.POSITIVE_INFINITY);
  });

  it("cuts the rows of a table to its width", () => {
    const { terminal, stdout } = createTerminal({ isTTY: true, columns: 5 });
    terminal.row("1234567");
    expect(String(stdout.read())).toBe("1234…\n");
  });

  it.each([{ TERM: "dumb" }, { CI: "true" }])("is not redrawn where that fails: %j", (env) => {
    expect(createTerminal({ isTTY: true, env }).terminal.canRedraw).toBe(false);
  });
});

describe("a line that is redrawn", () => {
  it("is replaced by whatever is written next", () => {
    const { terminal, stderr } = createTerminal({ isTTY: true });
    terminal.redraw("waiting");
    terminal.redraw("still waiting");
    terminal.note("⚠ something");
    terminal.redraw("");
    const erase = "\r\u001B[2K";
    expect(String(stderr.read())).toBe(`waiting${erase}still waiting${erase}⚠ something\n`);
  });
});

describe("output that nobody reads any more", () => {
  it("vanishes quietly and is no failure", () => {
    const { terminal, stdout } = createTerminal({});
    stdout.emit("error", Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    expect(terminal.readerGone.aborted).toBe(true);
    expect(terminal.writeError).toBeUndefined();
  });

  it("is a failure when the disk is full", () => {
    const { terminal, stdout } = createTerminal({});
    stdout.emit("error", Object.assign(new Error("full"), { code: "ENOSPC" }));
    expect(terminal.writeError?.code).toBe("ENOSPC");
  });
});
