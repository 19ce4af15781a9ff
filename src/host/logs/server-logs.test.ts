import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { ManualClock } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { silentLogger } from "../../ports/logger.ts";
import { HostLogs } from "./kept-logs.ts";
import { parseEntry } from "./log-entry.ts";
import { ServerLogs } from "./server-logs.ts";

function makeLogs(maxBytes = 2_000_000) {
  const root = mkdtempSync(path.join(tmpdir(), "logs-"));
  const folder = path.join(root, "logs");
  const clock = new ManualClock();
  const warnings: string[] = [];
  const logger = {
    ...silentLogger,
    warn: (message: string, fields: unknown) =>
      warnings.push(`${message} ${JSON.stringify(fields)}`),
  };
  const logs = new ServerLogs({ folder, maxBytes, clock, logger });
  const entries = () =>
    readFileSync(path.join(folder, "s.log"), "utf8")
      .split("\n")
      .flatMap((line) => parseEntry(line) ?? []);
  return { root, folder, clock, warnings, logs, entries };
}

const nothing = { lines: 0, bytes: 0 };

describe("logs of servers", () => {
  it("are written together, a second behind the first line", async () => {
    const { folder, clock, logs, entries } = makeLogs();
    const log = logs.of("s");
    await clock.advance(10_000);
    expect(clock.pending).toBe(0);
    log.tell("starting: x");
    log.printed(["listening"], nothing);
    log.message("info", "hello");
    log.tell("start_exit: it ended", "error");
    expect(clock.pending).toBe(1);
    await clock.advance(999);
    expect(existsSync(folder)).toBe(false);
    await clock.advance(1);
    await logs.flush();
    const { pid } = process;
    expect(entries()).toEqual([
      { at: 10_000, pid, source: "host", text: "starting: x" },
      { at: 10_000, pid, source: "stderr", text: "listening" },
      { at: 10_000, pid, source: "message", level: "info", text: "hello" },
      { at: 10_000, pid, source: "host", level: "error", text: "start_exit: it ended" },
    ]);
  });

  it("A17: hold so many messages of a flood, and the number of the others", async () => {
    const { clock, logs, entries } = makeLogs();
    const log = logs.of("s");
    for (let index = 0; index < 5_000; index += 1) log.message("info", `m${index}`);
    await logs.flush();
    expect(entries()).toHaveLength(1_001);
    expect(entries().at(-1)).toMatchObject({ source: "host", text: "left out: 4000 messages" });
    await clock.advance(1_000);
    log.message("info", "later");
    await logs.flush();
    expect(entries().at(-1)).toMatchObject({ text: "later" });
  });

  it("A17: hold no more than may wait for a disk, and the number of the others", async () => {
    const { logs, entries } = makeLogs(4_000);
    const log = logs.of("s");
    log.printed(
      Array.from({ length: 100 }, (_, index) => `line ${index}`),
      { lines: 7, bytes: 3_400_000 },
    );
    await logs.flush();
    const texts = entries().map(({ text }) => text);
    expect(texts[0]).toBe("left out: 7 lines and 3.4 MB that came too fast");
    expect(texts[1]).toBe("line 0");
    expect(texts.at(-1)).toBe(`left out: ${100 - (texts.length - 2)} lines`);
    expect(texts.length).toBeLessThan(40);
  });

  it("J1: a folder that cannot be written costs the lines and one warning", async () => {
    const { root, warnings, logs } = makeLogs();
    writeFileSync(path.join(root, "logs"), "in the way");
    for (const name of ["s", "t", "s"]) {
      logs.of(name).tell("starting");
      await logs.flush();
    }
    await logs.close();
    expect(warnings).toEqual([
      expect.stringMatching(/^the logs of servers cannot be kept .*logs is not a folder/),
    ]);
  });

  it("are written by the end of the host", async () => {
    const { clock, logs, entries } = makeLogs();
    logs.of("s").tell("stopped (exit code 0)");
    await logs.close();
    expect(entries()).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });
});

describe("what is kept", () => {
  it("is read oldest first, from a time on, and the last of it", async () => {
    const { folder, clock, logs } = makeLogs(1_000);
    const kept = new HostLogs({ folder, writer: logs, clock });
    expect(await kept.read("s")).toEqual([]);
    for (let index = 0; index < 12; index += 1) {
      logs.of("s").tell(`line ${index}`);
      await logs.flush();
      await clock.advance(1_000);
    }
    const texts = async (query?: Parameters<typeof kept.read>[1]): Promise<readonly string[]> =>
      (await kept.read("s", query)).map(({ text }) => text);
    // Of two files, the older one first.
    expect((await texts()).slice(-9)).toEqual(
      Array.from({ length: 9 }, (_, index) => `line ${index + 3}`),
    );
    expect(await texts({ limit: 2 })).toEqual(["line 10", "line 11"]);
    expect(await texts({ limit: 0 })).toEqual([]);
    expect(await texts({ since: 10_500 })).toEqual(["line 11"]);
    expect(await kept.names()).toEqual(["s"]);
  });

  it("J1, RES-18: is what is whole of a damaged file, and safe to print whoever wrote it", async () => {
    const { folder, clock, logs } = makeLogs();
    const kept = new HostLogs({ folder, writer: logs, clock });
    logs.of("s").tell("one");
    await logs.flush();
    const evil = JSON.stringify({ at: 1, pid: 1, source: "stderr", text: "\u001B[2J\nx\u202E" });
    const lines = ['{"at":1,"pid":1,"sou', "[]", '{"at":"x"}', "\0\0\0", evil];
    writeFileSync(path.join(folder, "s.log"), `${lines.join("\n")}\nhalf`, { flag: "a" });
    logs.of("s").tell("two");
    const texts = (await kept.read("s")).map(({ text }) => text);
    expect(texts).toEqual(["one", " x\uFFFD", "two"]);
  });

  it("is followed across rotations, until nobody wants it any more", async () => {
    const { folder, clock, logs } = makeLogs(1_000);
    const kept = new HostLogs({ folder, writer: logs, clock });
    const stop = new AbortController();
    const seen: string[] = [];
    const following = (async () => {
      for await (const { text } of kept.follow("s", { signal: stop.signal })) {
        seen.push(text);
        if (text === "line 29") stop.abort();
      }
    })();
    for (let index = 0; index < 30; index += 1) {
      logs.of("s").tell(`line ${index}`);
      await logs.flush();
      // The next look of the follower; it has found the line when it pauses again.
      while (seen.length <= index) await clock.advance(200);
    }
    await following;
    expect(seen).toEqual(Array.from({ length: 30 }, (_, index) => `line ${index}`));
    expect(clock.pending).toBe(0);
  });

  it("is nothing for a host without a folder", async () => {
    const kept = new HostLogs({ folder: undefined, writer: undefined, clock: new ManualClock() });
    expect(kept.folder).toBeUndefined();
    expect([await kept.names(), await kept.read("s")]).toEqual([[], []]);
    for await (const entry of kept.follow("s")) expect(entry).toBeUndefined();
  });
});
