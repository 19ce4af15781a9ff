"use strict";

const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

/** Commands that have a file of their own: what people and their shells ask for most. */
const commonCommands = new Set(["list", "tools", "call", "get", "__complete"]);
const ending = ".code";
const keptDays = 30;
/** The engine copies what does not begin at such a multiple. */
const alignment = 8;

/**
 * What is kept for a command of these words. It lies in the user's own folder once there is one, and not in the folder for
 * temporary files: whoever can write there could put code of theirs into it.
 *
 * @typedef {object} Compiled
 * @property {string} file
 * @property {ReadonlyMap<string, { identity: string, data: Buffer }>} scripts by their request
 *
 * @param {readonly string[]} words
 * @returns {Compiled}
 */
function readCompiled(words) {
  const named = process.env["PLUGBOARD_HOME"] || "";
  const home = named === "" ? path.join(os.homedir(), ".plugboard") : named;
  const first = words.find((word) => !word.startsWith("-")) ?? "";
  const command = commonCommands.has(first) ? first : "other";
  const name = `${command}-${process.version}-${process.arch}${ending}`;
  const file = path.resolve(home, "cache", name);
  return { file, scripts: unpack(readOwnFile(file)) };
}

/**
 * The bytes of a file that nobody but the user could have written; none where it is missing or somebody else's, for they
 * are going to be run.
 *
 * @param {string} file
 */
function readOwnFile(file) {
  // Windows knows neither of the latter, which then count as nothing.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  let descriptor;
  try {
    if (!isOwnFolder(path.dirname(file))) return undefined;
    descriptor = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stats = fs.fstatSync(descriptor);
    return stats.isFile() && isOwn(stats) ? fs.readFileSync(descriptor) : undefined;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

/** @param {string} folder */
function isOwnFolder(folder) {
  const stats = fs.lstatSync(folder);
  return stats.isDirectory() && isOwn(stats);
}

/** Windows has no such owner; there the folder of a user is closed to others. @param {fs.Stats} stats */
function isOwn({ uid, mode }) {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

/**
 * The engine believes what it is given, and a single wrong byte ends the process. So the file holds all of it twice, and
 * counts if both are equal: to compare them takes less than a tenth of the time of a checksum.
 *
 * @param {Buffer | undefined} content
 * @returns {Map<string, { identity: string, data: Buffer }>}
 */
function unpack(content) {
  /** @type {Map<string, { identity: string, data: Buffer }>} */
  const scripts = new Map();
  if (content === undefined || content.length % 2 !== 0) return scripts;
  const once = content.subarray(0, content.length / 2);
  if (!once.equals(content.subarray(once.length))) return scripts;
  try {
    const header = once.toString("latin1", 0, once.indexOf("\n") + 1);
    let start = header.length;
    for (const [request, identity, length] of JSON.parse(header)) {
      scripts.set(request, { identity, data: once.subarray(start, start + length) });
      start += aligned(length);
    }
  } catch {
    // Something else lies there.
    scripts.clear();
  }
  return scripts;
}

/**
 * Keeps the compiled code of scripts, and of those that were kept already and are not loaded this time. Where that is not
 * possible the next command compiles its scripts again.
 *
 * @param {Compiled} kept
 * @param {ReadonlyMap<string, { identity: string, script: import("node:vm").Script }>} loaded
 */
function writeCompiled({ file, scripts }, loaded) {
  const folder = path.dirname(file);
  // Nothing of ours is created for somebody who keeps nothing.
  if (!fs.existsSync(path.dirname(folder))) return;
  const unfinished = `${file}.${process.pid}`;
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isOwnFolder(folder)) return;
    const all = new Map(scripts);
    for (const [request, { identity, script }] of loaded)
      all.set(request, { identity, data: script.createCachedData() });
    const once = pack(all);
    fs.writeFileSync(unfinished, Buffer.concat([once, once]), { flag: "wx", mode: 0o600 });
    fs.renameSync(unfinished, file);
    removeOld(folder);
  } catch {
    removeFile(unfinished);
  }
}

/** @param {string} file */
function removeFile(file) {
  try {
    fs.unlinkSync(file);
  } catch {
    // It is not there, or not ours to remove.
  }
}

/** @param {ReadonlyMap<string, { identity: string, data: Buffer }>} scripts */
function pack(scripts) {
  const rows = [...scripts].map(([request, { identity, data }]) => [
    request,
    identity,
    data.length,
  ]);
  const header = JSON.stringify(rows);
  const parts = [...scripts.values()].flatMap(({ data }) => [
    data,
    Buffer.alloc(aligned(data.length) - data.length),
  ]);
  const padded = `${header.padEnd(aligned(header.length + 1) - 1)}\n`;
  return Buffer.concat([Buffer.from(padded, "latin1"), ...parts]);
}

/** @param {number} length */
function aligned(length) {
  return Math.ceil(length / alignment) * alignment;
}

/** Those of Nodes and commands that nobody uses any more. One that is used is written again. @param {string} folder */
function removeOld(folder) {
  const oldest = Date.now() - keptDays * 24 * 60 * 60 * 1000;
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name);
    if (name.includes(ending) && fs.lstatSync(file).mtimeMs < oldest) removeFile(file);
  }
}

module.exports = { readCompiled, writeCompiled };
