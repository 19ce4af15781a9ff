import { PassThrough } from "node:stream";

import { describe, expect, it } from "vitest";

import { type OutputStream, Terminal } from "./terminal.ts";

function createTerminal(options: {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
  env?: Record<string, string>;
}) {
  const { isTTY = false, columns, rows, env = { LANG: "C.UTF-8" } } = options;
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  const asOutput = (stream: PassThrough): OutputStream =>
    Object.assign(stream, {
      isTTY,
      ...(columns === undefined ? {} : { columns }),
      ...(rows === undefined ? {} : { rows }),
    });
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

const erase = "\r\u001B[2K";
const eraseAbove = "\u001B[1A\u001B[2K";

describe("lines that are redrawn", () => {
  it("replace those drawn before, and other output goes above them", () => {
    const { terminal, stderr } = createTerminal({ isTTY: true });
    terminal.redraw(["waiting"]);
    terminal.redraw(["still waiting", "and more"]);
    terminal.note("⚠ something");
    terminal.redraw([]);
    terminal.redraw([]);
    expect(String(stderr.read())).toBe(
      [
        "waiting",
        `${erase}still waiting\nand more`,
        `${erase}${eraseAbove}⚠ something\nstill waiting\nand more`,
        `${erase}${eraseAbove}`,
      ].join(""),
    );
  });

  it("stay on stderr while results go to stdout", () => {
    const { terminal, stdout, stderr } = createTerminal({ isTTY: true });
    terminal.redraw(["waiting"]);
    terminal.line("row");
    expect(String(stdout.read())).toBe("row\n");
    expect(String(stderr.read())).toBe(`waiting${erase}waiting`);
  });

  it("are gone while somebody is asked, and come back with the next drawing", () => {
    const { terminal, stderr } = createTerminal({ isTTY: true });
    terminal.redraw(["waiting"]);
    const release = terminal.hold();
    terminal.prompt("[y/N] ");
    terminal.redraw(["waiting"]);
    release();
    terminal.redraw(["waiting"]);
    expect(String(stderr.read())).toBe(`waiting${erase}[y/N] waiting`);
  });

  it("are cut to the width of the screen, in columns", () => {
    const { terminal, stderr } = createTerminal({ isTTY: true, columns: 10 });
    terminal.redraw(["123456789012", "\u6F22\u5B57\u6F22\u5B57\u6F22\u5B57", "e\u0301te\u0301"]);
    expect(String(stderr.read())).toBe("123456789\n\u6F22\u5B57\u6F22\u5B57\ne\u0301te\u0301");
  });

  it("are cut after they became ASCII, which is longer", () => {
    const env = { LANG: "C", TERM: "xterm" };
    const { terminal, stderr } = createTerminal({ isTTY: true, columns: 10, env });
    terminal.redraw(["starting …"]);
    expect(String(stderr.read())).toBe("starting ");
  });

  it("are erased where a narrower window wraps them", () => {
    const { terminal, stderr } = createTerminal({ isTTY: true, columns: 40 });
    terminal.redraw(["x".repeat(25), "short"]);
    stderr.read();
    Object.assign(stderr, { columns: 10 });
    terminal.redraw([]);
    // Three rows of the first line and one of the second.
    expect(String(stderr.read())).toBe(`${erase}${eraseAbove.repeat(3)}`);
  });

  it("are never more than the screen has rows", () => {
    const { terminal, stderr } = createTerminal({ isTTY: true, rows: 4 });
    terminal.redraw(["a", "b", "c", "d", "e"]);
    expect(String(stderr.read())).toBe("a\nb\n  … and 3 more");
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
