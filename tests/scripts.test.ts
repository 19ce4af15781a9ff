import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { describe, expect, it } from "vitest";

import { mayInstall } from "../scripts/debian-packages.mjs";
import { isInstalled } from "../scripts/install.mjs";
import { withLock } from "../scripts/lock.mjs";
import { runVitest } from "../scripts/run-vitest.mjs";

const lockModule = pathToFileURL(path.resolve(import.meta.dirname, "../scripts/lock.mjs")).href;
const scratch = (): string => mkdtempSync(path.join(tmpdir(), "scripts-"));

describe("the lock of the scripts", () => {
  it("lets one process in at a time and every process in the end", async () => {
    const folder = scratch();
    const journal = path.join(folder, "journal");
    // Whoever is in stays until all four have come to the door: a lock that fails shows every time.
    const program = `
      import { appendFileSync, readdirSync, writeFileSync } from "node:fs";
      import { setImmediate } from "node:timers/promises";
      import { withLock } from ${JSON.stringify(lockModule)};
      process.chdir(${JSON.stringify(folder)});
      writeFileSync("ready-" + process.pid, "");
      await withLock("lock", async () => {
        appendFileSync("journal", "in ");
        while (readdirSync(".").filter((name) => name.startsWith("ready-")).length < 4) await setImmediate();
        appendFileSync("journal", "out ");
      });`;
    const start = () =>
      promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
    await Promise.all([start(), start(), start(), start()]);
    expect(readFileSync(journal, "utf8")).toBe("in out ".repeat(4));
  });

  it("is taken from a process that died with it", async () => {
    const lock = path.join(scratch(), "lock");
    const { pid } = spawnSync(process.execPath, ["--eval", ""]);
    writeFileSync(lock, String(pid));
    await expect(withLock(lock, () => Promise.resolve("in"))).resolves.toBe("in");
  });

  it("is taken from a holder that gave no sign of life, whoever has its process id now", async () => {
    const lock = path.join(scratch(), "lock");
    writeFileSync(lock, String(process.pid));
    const longAgo = new Date(Date.now() - 3_600_000);
    utimesSync(lock, longAgo, longAgo);
    await expect(withLock(lock, () => Promise.resolve("in"))).resolves.toBe("in");
  });

  it("is given back when the work fails", async () => {
    const lock = path.join(scratch(), "lock");
    await expect(withLock(lock, () => Promise.reject(new Error("broken")))).rejects.toThrow(
      "broken",
    );
    await expect(withLock(lock, () => Promise.resolve("in"))).resolves.toBe("in");
  });
});

describe("Debian packages", () => {
  it("are installed by root on a machine of CI, and never by anybody else", () => {
    expect(mayInstall({ CI: "true" }, 0)).toBe(true);
    expect(mayInstall({ CI: "1" }, 1_000)).toBe(false);
    expect(mayInstall({ CI: "1" }, undefined)).toBe(false);
    for (const env of [{}, { CI: "" }, { CI: "0" }, { CI: "false" }])
      expect(mayInstall(env, 0)).toBe(false);
  });
});

describe("dependencies", () => {
  const wanted = { version: "1.0.0", integrity: "sha512-a" };
  const elsewhere = { version: "1.0.0", integrity: "sha512-b", optional: true };

  function install(installed: Record<string, object>): string {
    const folder = scratch();
    const manifest = { dependencies: { wanted: "1.0.0" } };
    const packages = { "node_modules/wanted": wanted, "node_modules/elsewhere": elsewhere };
    const write = (file: string, value: object): void =>
      writeFileSync(path.join(folder, file), JSON.stringify(value));
    mkdirSync(path.join(folder, "node_modules"));
    write("package.json", manifest);
    write("package-lock.json", { packages: { "": manifest, ...packages } });
    write("node_modules/.package-lock.json", { packages: installed });
    return folder;
  }

  it("are there when each is what the lockfile says; builds for other platforms may be absent", () => {
    expect(isInstalled(install({ "node_modules/wanted": wanted }))).toBe(true);
    expect(
      isInstalled(install({ "node_modules/wanted": wanted, "node_modules/elsewhere": elsewhere })),
    ).toBe(true);
  });

  it.each([
    ["nothing was installed", {}],
    ["another version is there", { "node_modules/wanted": { ...wanted, version: "1.0.1" } }],
    ["other bytes are there", { "node_modules/wanted": { ...wanted, integrity: "sha512-c" } }],
    ["more is there", { "node_modules/wanted": wanted, "node_modules/left": wanted }],
  ])("are stale when %s", (_reason, installed) => {
    expect(isInstalled(install(installed))).toBe(false);
  });

  it("are stale when the manifest asks for something the lockfile does not know", () => {
    const folder = install({ "node_modules/wanted": wanted });
    writeFileSync(path.join(folder, "package.json"), '{"dependencies":{"wanted":"1.0.1"}}');
    expect(isInstalled(folder)).toBe(false);
  });
});

describe("the count of tests", () => {
  it("takes what fails outside of a test for a failure", async () => {
    const folder = scratch();
    const write = (name: string, source: string): void =>
      writeFileSync(path.join(folder, name), source);
    write(
      "mixed.test.js",
      'it("passes", () => {}); it("fails", () => { throw new Error("no"); }); it.skip("is skipped", () => {}); it.todo("is planned");',
    );
    write("unloadable.test.js", 'import "./absent.js"; it("never runs", () => {});');
    write("hook.test.js", 'afterAll(() => { throw new Error("no"); }); it("passes", () => {});');
    const args = [`--root=${folder}`, "--globals"];
    await expect(runVitest(args, { capture: true })).resolves.toEqual({
      passed: 2,
      failed: 3,
      skipped: 2,
    });
  });

  it("is never free of failures when the runner itself fails", async () => {
    await expect(runVitest([`--root=${scratch()}`], { capture: true })).resolves.toMatchObject({
      failed: 1,
    });
  });
});
