import { PassThrough } from "node:stream";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Terminal } from "../terminal/terminal.ts";
import { formatProgress, ProgressBlock, ProgressLine } from "./progress-line.ts";

const erase = "\r\u001B[2K";
const eraseAbove = "\u001B[1A\u001B[2K";

function createContext(isTTY: boolean, { quiet = false, env = {} } = {}) {
  const stderr = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY, columns: 80 });
  const terminal = new Terminal({
    stdout: new PassThrough(),
    stderr,
    env: { LANG: "C.UTF-8", TERM: "xterm", ...env },
    platform: "linux",
    color: false,
  });
  const options = { color: false, quiet, logLevel: "warn" as const };
  const notice = (text: string): void => {
    if (!quiet) terminal.note(text);
  };
  return {
    context: { terminal, options, notice },
    written: () =>
      String(stderr.read() ?? "")
        .replaceAll(eraseAbove, "<above>")
        .replaceAll(erase, "<erase>"),
  };
}

describe("progress", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("on a terminal nothing is drawn for a wait that cannot be felt", () => {
    const { context, written } = createContext(true);
    const progress = new ProgressLine(context);
    progress.phase("starting demo");
    vi.advanceTimersByTime(250);
    progress.stop();
    expect(written()).toBe("");
  });

  it("on a terminal one line is redrawn and erased at the end", () => {
    const { context, written } = createContext(true);
    const progress = new ProgressLine(context);
    progress.phase("calling demo.slow");
    vi.advanceTimersByTime(300);
    expect(written()).toMatch(/^. calling demo\.slow …$/u);
    progress.update({ progress: 1, total: 2, message: "half\u001B[2J" });
    vi.advanceTimersByTime(100);
    expect(written()).toMatch(/^<erase>. calling demo\.slow … █████░░░░░ 1\/2 half$/u);
    vi.advanceTimersByTime(2_000);
    expect(written()).toMatch(/2\.4 s$/);
    progress.stop();
    expect(written()).toBe("<erase>");
    vi.advanceTimersByTime(1_000);
    expect(written()).toBe("");
  });

  it("elsewhere each phase is one plain line, whatever progress is reported", () => {
    const { context, written } = createContext(false);
    const progress = new ProgressLine(context);
    progress.phase("starting demo");
    progress.phase("calling demo.slow");
    progress.update({ progress: 1, total: 2 });
    vi.advanceTimersByTime(5_000);
    progress.stop();
    expect(written()).toBe("starting demo …\ncalling demo.slow …\n");
  });

  it.each([true, false])("--quiet silences it (terminal: %s)", (isTTY) => {
    const { context, written } = createContext(isTTY, { quiet: true });
    const progress = new ProgressLine(context);
    progress.phase("starting demo");
    vi.advanceTimersByTime(5_000);
    progress.stop();
    expect(written()).toBe("");
  });
});

describe("progress of several things", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is one line each, which goes when its thing is done", () => {
    const { context, written } = createContext(true);
    const block = new ProgressBlock(context);
    const [one, two] = [new ProgressLine(block), new ProgressLine(block)];
    one.phase("one  starting");
    vi.advanceTimersByTime(200);
    two.phase("two  starting");
    vi.advanceTimersByTime(100);
    expect(written()).toMatch(/^. one {2}starting …\n. two {2}starting …$/u);
    one.phase("one  handshake");
    vi.advanceTimersByTime(100);
    expect(written()).toMatch(/^<erase><above>. one {2}handshake …\n. two {2}starting …$/u);
    context.terminal.line("a row of the answer");
    one.stop();
    vi.advanceTimersByTime(2_000);
    // Each line has a time of its own, of all its phases together.
    expect(written()).toMatch(/<erase>. two {2}starting … 2\.2 s$/u);
    two.stop();
    expect(written()).toBe("<erase>");
  });

  it("keeps what came of one while the others are waited for", () => {
    const { context, written } = createContext(true);
    const block = new ProgressBlock(context);
    const [one, two] = [new ProgressLine(block), new ProgressLine(block)];
    one.phase("one  starting");
    two.phase("two  starting");
    one.end("✓ one  3 tools");
    vi.advanceTimersByTime(300);
    expect(written()).toMatch(/^✓ one {2}3 tools\n. two {2}starting …$/u);
    block.stop();
    expect(written()).toBe("<erase><above>");
  });

  it("counts the wait as a whole, whatever its phases are, and anew after it is over", () => {
    const { context, written } = createContext(true);
    const line = new ProgressLine(context);
    line.phase("starting");
    vi.advanceTimersByTime(2_000);
    line.phase("handshake");
    vi.advanceTimersByTime(500);
    expect(written()).toMatch(/handshake … 2\.5 s$/);
    line.stop();
    line.phase("calling");
    vi.advanceTimersByTime(300);
    expect(written()).toMatch(/<erase>. calling …$/u);
    line.stop();
  });

  it.each([{ TERM: "dumb" }, { CI: "true" }])(
    "is plain lines where nothing is redrawn: %j",
    (env) => {
      const { context, written } = createContext(true, { env });
      const line = new ProgressLine(context);
      line.phase("starting demo");
      vi.advanceTimersByTime(5_000);
      line.phase("handshake with demo");
      line.stop();
      expect(written()).toBe("starting demo …\nhandshake with demo …\n");
    },
  );

  it("is ASCII where the locale is not UTF-8", () => {
    const { context, written } = createContext(true, { env: { LANG: "C" } });
    const line = new ProgressLine(context);
    line.phase("calling demo.slow");
    line.update({ progress: 1, total: 2 });
    vi.advanceTimersByTime(300);
    line.stop();
    expect(written()).toMatch(/^[|/\\-] calling demo\.slow \.\.\. #####\.\.\.\.\. 1\/2<erase>$/);
  });
});

describe("a progress report", () => {
  it.each([
    [{ progress: 3 }, "3"],
    [{ progress: 3, message: "reading\nmore" }, "3 reading more"],
    [{ progress: 3, total: 0 }, "3"],
    [{ progress: 9, total: 3 }, "██████████ 9/3"],
    [{ progress: -1, total: 3 }, "░░░░░░░░░░ -1/3"],
  ])("%j reads as %s", (report, expected) => {
    expect(formatProgress(report)).toBe(expected);
  });
});
