// @ts-check
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";

import { note, root, run } from "./run.mjs";

/** The pinned commit of the official JSON Schema test suite: no release of it is on npm. */
export const suiteCommit = "44401e0c046704b476ec9d2e2fccdaee618f259d";

/** The checkout of that commit; git ignores the folder. */
export const suiteFolder = path.join(root, ".bootstrap", `json-schema-suite-${suiteCommit}`);

const repository = "https://github.com/json-schema-org/JSON-Schema-Test-Suite.git";

/**
 * Fetches the suite once. Without a network its tests are skipped; `JSON_SCHEMA_SUITE` names a clone, by
 * folder or address, to fetch it from instead.
 */
export async function ensureJsonSchemaSuite() {
  if (existsSync(suiteFolder)) return;
  const given = process.env["JSON_SCHEMA_SUITE"] ?? repository;
  const source = existsSync(given) ? path.resolve(given) : given;
  // A folder with the final name holds a whole checkout: a fetch that breaks off leaves none.
  const unfinished = `${suiteFolder}.${process.pid}`;
  const env = { ...process.env, GIT_TERMINAL_PROMPT: "0" };
  const git = async (/** @type {string[]} */ ...args) => {
    const { code, output } = await run("git", ["-C", unfinished, ...args], { env, capture: true });
    if (code !== 0) throw new Error(output.trim());
  };
  try {
    mkdirSync(unfinished, { recursive: true });
    await git("init", "--quiet");
    // A server that stops answering costs half a minute at most, not the run.
    const patience = ["-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30"];
    await git(...patience, "fetch", "--quiet", "--depth=1", source, suiteCommit);
    await git("checkout", "--quiet", "FETCH_HEAD");
    renameSync(unfinished, suiteFolder);
  } catch (error) {
    note(
      `${String(error)}\nThe JSON Schema test suite could not be fetched; its tests are skipped.`,
    );
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
