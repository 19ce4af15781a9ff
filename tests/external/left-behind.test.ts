import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { findRealServers, unlinkedName } from "./left-behind/real-servers.ts";
import { RunningProgram } from "./left-behind/running-program.ts";

const root = path.resolve(import.meta.dirname, "../..");
const program = path.join(root, "tests/fixtures/agent/left-host.mjs");
const command = path.join(root, "bin/plugboard.js");
const signals = ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"] as const;

const isLinux = process.platform === "linux";
const servers = isLinux ? findRealServers() : { ofProgram: {}, ofCommand: {} };
const count = Object.keys(servers.ofProgram).length;
const hasPython = "python" in servers.ofProgram;
const hasBrowser = "browser" in servers.ofProgram;

const unlinkedChild = new RegExp(`^${unlinkedName} `);
/** Itself or the script that starts it. */
const browserProcess = /^(?:\S+sh )?\S*chrom\S* .*--headless/;

function newHome(): string {
  return mkdtempSync(path.join(tmpdir(), "left-behind-"));
}

/** A program on the built package, which it imports by its name. */
function startProgram(how: string): RunningProgram {
  const tool = hasBrowser ? ["mcp__browser__list_pages"] : [];
  const home = newHome();
  const entries = JSON.stringify(servers.ofProgram);
  const words = [program, "plugboard", home, entries, how, ...tool];
  return new RunningProgram(words, { home, readiness: /^ready$/ });
}

function startUp(): RunningProgram {
  const home = newHome();
  mkdirSync(path.join(home, ".plugboard"));
  const file = path.join(home, ".plugboard/mcp.json");
  writeFileSync(file, JSON.stringify({ mcpServers: servers.ofCommand }));
  const readiness = new RegExp(`^${count} of ${count} servers connected`);
  return new RunningProgram([command, "up"], { home, readiness });
}

async function expectNothingLeft(running: RunningProgram, signal?: NodeJS.Signals): Promise<void> {
  await running.ready();
  const commands = running.commands();
  expect(commands.length, "at least the program, its watchdog, servers").toBeGreaterThan(count + 1);
  const isThere = (pattern: RegExp): boolean => commands.some((words) => pattern.test(words));
  expect(isThere(unlinkedChild), "a process that nothing links to its server").toBe(hasPython);
  expect(isThere(browserProcess), "a browser").toBe(hasBrowser);
  await running.end(signal);
  const left = { timeout: 5_000, interval: 100 };
  await expect.poll(() => running.commands(), left).toStrictEqual([]);
}

describe.skipIf(!isLinux)("real servers, in the forms in which users start them", () => {
  it("include a Python one with a child that nothing links to it", ({ skip }) => {
    if (!hasPython) skip("no python3: apt-get install python3");
    expect(servers.ofProgram).toHaveProperty("python");
  });

  it("include one that drives a browser", ({ skip }) => {
    if (!hasBrowser) skip("no chromium that starts: apt-get install chromium");
    expect(servers.ofProgram).toHaveProperty("browser");
  });

  it.each(["close", "end of main", "process.exit", "an error"])(
    "STD-24 STD-09, B8, B12: leave nothing when their program ends by %s",
    async (how) => {
      using running = startProgram(how);
      await expectNothingLeft(running);
    },
  );

  it.each(signals)("STD-24, B12: leave nothing when their program gets %s", async (signal) => {
    using running = startProgram(signal);
    await expectNothingLeft(running, signal);
  });

  it.each(signals)("STD-24, B12: leave nothing when plugboard up gets %s", async (signal) => {
    using running = startUp();
    await expectNothingLeft(running, signal);
  });
});
