import { PassThrough } from "node:stream";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Terminal } from "../output/terminal.ts";
import { formatProgress, ProgressLine } from "./progress-line.ts";

const erase = "\r\u001B[2K";

function createContext(isTTY: boolean, quiet = false) {
  const stderr = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY, columns: 80 });
  const terminal = new Terminal({
    stdout: new PassThrough(),
    stderr,
    env: { LANG: "C.UTF-8", TERM: "xterm" },
    platform: "linux",
    color: false,
  });
  const options = { color: false, quiet, logLevel: "warn" as const };
  const notice = (text: string): void => {
    if (!quiet) terminal.note(text);
  };
  return {
    context: { terminal, options, notice },
    written: () => String(stderr.read() ?? "").replaceAll(erase, "<erase>"),
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
    const { context, written } = createContext(isTTY, true);
    const progress = new ProgressLine(context);
    progress.phase("starting demo");
    vi.advanceTimersByTime(5_000);
    progress.stop();
    expect(written()).toBe("");
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
