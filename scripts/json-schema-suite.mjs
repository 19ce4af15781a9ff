// @ts-check
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";

import { note, root, run } from "./run.mjs";

/** The pinned commit of the official JSON Schema test suite: no release of it is on npm. */
const pinnedCommit = "44401e0c046704b476ec9d2e2fccdaee618f259d";

/** A commit of the suite that a Debian package holds, for machines that reach packages and not GitHub. */
const packagedCommit = "47958f82d0ca44b82f3fb32744a0fb5aead191a6";
const debianPackage = "libtest-json-schema-acceptance-perl";
const placeInPackage = "usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance";

const repository = "https://github.com/json-schema-org/JSON-Schema-Test-Suite.git";

/** @param {string} commit */
const folderOf = (commit) => path.join(root, ".bootstrap", `json-schema-suite-${commit}`);

/** The checkout of the suite that is there, the newest first; git ignores the folder. */
export function findJsonSchemaSuite() {
  const commit = [pinnedCommit, packagedCommit].find((one) => existsSync(folderOf(one)));
  return commit === undefined ? undefined : { commit, folder: folderOf(commit) };
}

/**
 * Fetches the suite once: with git, else out of a Debian package, which is unpacked and not installed. Without either
 * its tests are skipped; `JSON_SCHEMA_SUITE` names a clone, by folder or address, to fetch it from instead.
 */
export async function ensureJsonSchemaSuite() {
  if (findJsonSchemaSuite() !== undefined) return;
  const reasons = [];
  for (const attempt of [
    () => fetchInto(pinnedCommit, fetchCommit),
    () => fetchInto(packagedCommit, unpackDebian),
  ])
    try {
      return await attempt();
    } catch (error) {
      reasons.push(String(error));
    }
  note(
    `${reasons.join("\n")}\nThe JSON Schema test suite could not be fetched; its tests are skipped.`,
  );
}

/**
 * A folder with the final name holds a whole checkout: a fetch that breaks off leaves none.
 *
 * @param {string} commit
 * @param {(folder: string) => Promise<string>} fetch gives the folder that holds the suite
 */
async function fetchInto(commit, fetch) {
  const unfinished = `${folderOf(commit)}.${process.pid}`;
  try {
    mkdirSync(unfinished, { recursive: true });
    renameSync(await fetch(unfinished), folderOf(commit));
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** @param {string} folder */
async function fetchCommit(folder) {
  const given = process.env["JSON_SCHEMA_SUITE"] ?? repository;
  const source = existsSync(given) ? path.resolve(given) : given;
  const git = (/** @type {string[]} */ ...args) => succeed("git", ["-C", folder, ...args]);
  await git("init", "--quiet");
  // A server that stops answering costs half a minute at most, not the run.
  const patience = ["-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30"];
  await git(...patience, "fetch", "--quiet", "--depth=1", source, pinnedCommit);
  await git("checkout", "--quiet", "FETCH_HEAD");
  return folder;
}

/** @param {string} folder */
async function unpackDebian(folder) {
  const patience = ["-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=20"];
  await succeed("apt-get", ["-q", ...patience, "download", debianPackage], folder);
  const file = readdirSync(folder).find((name) => name.endsWith(".deb")) ?? "";
  await succeed("dpkg-deb", ["-x", file, "."], folder);
  return path.join(folder, placeInPackage);
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} [cwd]
 */
async function succeed(command, args, cwd) {
  const env = { ...process.env, GIT_TERMINAL_PROMPT: "0" };
  const { code, output } = await run(command, args, { ...(cwd && { cwd }), env, capture: true });
  if (code !== 0) throw new Error(output.trim());
}
