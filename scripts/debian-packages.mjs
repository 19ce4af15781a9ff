// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

import { note, run } from "./run.mjs";

/**
 * A program that some tests try Plugboard with and that npm does not have.
 *
 * @typedef {{
 *   readonly name: string,
 *   readonly packages: readonly string[],
 *   readonly find: () => string | undefined,
 * }} ForeignProgram
 */

/**
 * A Python that has FastAPI and uvicorn: the first of the PATH, else the one that Debian's packages
 * belong to.
 *
 * @type {ForeignProgram}
 */
export const fastApi = {
  name: "FastAPI",
  packages: ["python3-fastapi", "python3-uvicorn"],
  find: () =>
    ["python3", "/usr/bin/python3"].find(
      (python) => spawnSync(python, ["-c", "import fastapi, uvicorn"]).status === 0,
    ),
};

/**
 * The shell of SQLite, in a version that can read the audit trail.
 *
 * @type {ForeignProgram}
 */
export const sqlite3 = {
  name: "sqlite3",
  packages: ["sqlite3"],
  find: () => {
    const { stdout } = spawnSync("sqlite3", ["--version"], { encoding: "utf8" });
    const [, minor = 0] = /^3\.(\d+)/.exec(stdout ?? "") ?? [];
    return Number(minor) >= 38 ? "sqlite3" : undefined;
  },
};

/**
 * A keychain for a session of its own: the message bus, and GNOME's Secret Service on it.
 *
 * @type {ForeignProgram}
 */
export const secretService = {
  name: "Secret Service",
  packages: ["dbus", "gnome-keyring"],
  find: () => {
    const programs = ["dbus-daemon", "dbus-send", "gnome-keyring-daemon"];
    // The second of them knows no `--version` but says that it is there.
    const isThere = (/** @type {string} */ name) =>
      spawnSync(name, ["--version"]).error === undefined;
    return programs.every(isThere) ? "gnome-keyring-daemon" : undefined;
  },
};

/** @type {readonly ForeignProgram[]} */
export const completingShells = ["bash", "zsh", "fish"].map((name) => ({
  name,
  packages: [name],
  find: () => (spawnSync(name, ["--version"]).status === 0 ? name : undefined),
}));

/**
 * A browser, for sign-ins as people see them.
 *
 * @type {ForeignProgram}
 */
export const chromiumBrowser = {
  name: "Chromium",
  packages: ["chromium"],
  find: () =>
    ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((program) => existsSync(program)),
};

/**
 * What gives a Debian machine a program that `find` looks for.
 *
 * @param {ForeignProgram} program
 */
export function installCommand({ packages }) {
  return `apt-get install ${packages.join(" ")}`;
}

/**
 * Whether a machine may be changed for the tests: it is thrown away after them (`CI` is set), and
 * packages can be installed on it.
 *
 * @param {NodeJS.ProcessEnv} env
 * @param {number | undefined} uid
 */
export function mayInstall(env, uid) {
  return !["", "0", "false", undefined].includes(env["CI"]) && uid === 0;
}

/**
 * Installs the programs that tests need, where that is allowed. Where it is not, or does not work, those
 * tests are skipped and say how to install it.
 */
export async function ensureForeignPrograms() {
  const missing = [fastApi, sqlite3, secretService, ...completingShells].filter(
    ({ find }) => find() === undefined,
  );
  if (missing.length === 0) return;
  if (!mayInstall(process.env, process.getuid?.())) {
    for (const program of missing)
      note(`no ${program.name}, so its tests are skipped: ${installCommand(program)}`);
    return;
  }
  // A mirror that does not answer costs a minute at most, not the run.
  const patience = ["-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=20"];
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const aptGet = (/** @type {string[]} */ ...args) =>
    run("apt-get", ["-q", ...patience, ...args], { env, capture: true });
  try {
    await aptGet("update");
    for (const program of missing) {
      note(`${installCommand(program)} …`);
      const { code, output } = await aptGet(
        "install",
        "--yes",
        "--no-install-recommends",
        ...program.packages,
      );
      if (code !== 0)
        note(`${output}\n${program.name} could not be installed; its tests are skipped.`);
    }
  } catch {
    const names = missing.map(({ name }) => name).join(" and ");
    note(`There is no apt-get here; the tests of ${names} are skipped.`);
  }
}
