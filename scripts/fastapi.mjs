// @ts-check
import { spawnSync } from "node:child_process";

import { note, run } from "./run.mjs";

const packages = ["python3-fastapi", "python3-uvicorn"];

/** What gives a Debian machine the FastAPI that `findFastApi` looks for. */
export const installCommand = `apt-get install ${packages.join(" ")}`;

/**
 * A Python that has FastAPI and uvicorn: the first of the PATH, else the one that Debian's packages
 * belong to.
 *
 * @returns {string | undefined}
 */
export function findFastApi() {
  return ["python3", "/usr/bin/python3"].find(
    (python) => spawnSync(python, ["-c", "import fastapi, uvicorn"]).status === 0,
  );
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
 * Installs FastAPI for the tests of a REST server that is written with it, where that is allowed.
 * Where it is not, or does not work, those tests are skipped and say how to install it.
 */
export async function ensureFastApi() {
  if (findFastApi() !== undefined) return;
  if (!mayInstall(process.env, process.getuid?.())) {
    note(`no FastAPI, so its tests are skipped: ${installCommand}`);
    return;
  }
  // A mirror that does not answer costs a minute at most, not the run.
  const patience = ["-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=20"];
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const aptGet = (/** @type {string[]} */ ...args) =>
    run("apt-get", ["-q", ...patience, ...args], { env, capture: true });
  note(`${installCommand} …`);
  try {
    await aptGet("update");
    const { code, output } = await aptGet(
      "install",
      "--yes",
      "--no-install-recommends",
      ...packages,
    );
    if (code !== 0) note(`${output}\nFastAPI could not be installed; its tests are skipped.`);
  } catch {
    note("There is no apt-get here; the tests of FastAPI are skipped.");
  }
}
