// @ts-check
import path from "node:path";

import { root } from "./run.mjs";

const sources = path.join(root, "src");

/** What nearly everything needs: rooms, and single files of others. */
const base = [
  "errors",
  "text",
  "events",
  "ports",
  "async",
  "catalog/tool-origin.ts",
  "config/files/config-files.ts",
  "config/files/project-folders.ts",
  "config/files/write-file-atomic.ts",
  "config/keys/config-problem.ts",
  "config/keys/limits.ts",
  "host/own-files.ts",
  "host/servers/bundled-server.ts",
  "isolation/network/paused-reads.ts",
  "isolation/process/child-environment.ts",
  "protocol/era/handshake.ts",
  "protocol/wire/header-value.ts",
  "store/tables/store-error.ts",
  "store/tables/store-location.ts",
  "text/json-object.ts",
  "transport/reading/json-bounds.ts",
  "transport/reading/message-ids.ts",
  "transport/reading/read-turns.ts",
];

/** What commands need of schemas, beside a host that runs as well as with one of their own. */
const schema = [
  "schema/compile",
  "schema/guard",
  "schema/validate",
  "schema/coerce-argument.ts",
  "schema/usage-line.ts",
  "catalog/provider-schema.ts",
];

/** What a program imports with the main entry. */
const host = ["host/create-host.ts", "catalog/provider-schema.ts"];

/** What the first connection needs, whatever it is made over; the checks of a call are loaded with it. */
const connection = [
  "protocol/client/core-client.ts",
  "connection/open-connection.ts",
  "transport/create-transport.ts",
  "schema/validate/validator-cache.ts",
  "schema/validate/validate-tool-arguments.ts",
];

/** Where the code of sessions begins, which most commands do without: in CommonJS it is loaded when it is used. */
const session = "host/open-session.ts";

/** What a program loads that connects to one server without a host: less than half of what a host takes. */
const client = ["host/connect-client.ts", ...connection, "transport/stdio/stdio-transport.ts"];

const commandLine = ["cli", "../node_modules/commander"];

/** A store in a file, which nearly every store is: its parts are loaded late, and together. */
const store = [
  "store/open-store.ts",
  "store/sqlite/sqlite-file-database.ts",
  "store/tables/migrate-store.ts",
];

/** What the first write to a store needs: larger than the store itself, and mostly wanted when a start is over. */
const queries = ["store/sqlite/sqlite-query-builder.ts", "store/tables/migrations.ts"];

/**
 * Which modules of the library share a file, first match first. Without this, each set of modules that the same
 * entries need would be a file of its own, and each takes 0.3 ms of CPU time on Node 20.
 */
export const libraryGroups = () => [
  roomGroup("base", base),
  commonGroup("client", client, host),
  ...commonGroups(),
];

/** Which modules of the command line share a file: most commands need no host, and few all of its parts. */
export const commandLineGroups = () => [
  roomGroup("base", base),
  roomGroup("schema", schema),
  closureGroup("attach", ["host/resident/attach.ts"]),
  closureGroup("host", host, [session]),
  closureGroup("session", [session]),
  ...commonGroups(),
  // Help and completion need no host.
  roomGroup("cli", commandLine, (file, context) =>
    [...loadedWith([file], context)].every(
      (loaded) => loaded.startsWith("node:") || isIn([...base, ...commandLine])(loaded),
    ),
  ),
  roomGroup("commands", commandLine),
];

const commonGroups = () => [
  closureGroup("attach", ["host/resident/attach.ts"]),
  closureGroup("host", host),
  closureGroup("core", connection),
  closureGroup("stdio", ["transport/stdio/stdio-transport.ts"]),
  closureGroup("store", store),
  closureGroup("queries", queries),
];

/** @typedef {import("rolldown").ChunkingContext} ChunkingContext */
/** @typedef {import("rolldown").CodeSplittingGroup} CodeSplittingGroup */

/**
 * What several entries need of these rooms and files.
 *
 * @param {string} chunk
 * @param {readonly string[]} parts
 * @param {(file: string, context: ChunkingContext) => boolean} [isMeant] of those
 * @returns {CodeSplittingGroup}
 */
function roomGroup(chunk, parts, isMeant = () => true) {
  const isPart = isIn(parts);
  return {
    debugName: chunk,
    minShareCount: 2,
    name: (file, context) => {
      const module = context.getModuleInfo(file);
      // What starts by itself or is loaded late must not run with its neighbours.
      if (module === null || module.isEntry || module.dynamicImporters.length > 0) return null;
      return isPart(file) && isMeant(file, context) ? chunk : null;
    },
  };
}

/** Whether a file is one of these or in one of these folders. @param {readonly string[]} parts of the sources */
function isIn(parts) {
  return (/** @type {string} */ file) => {
    const source = path.relative(sources, file).replaceAll(path.sep, "/");
    return parts.some((part) => source === part || source.startsWith(`${part}/`));
  };
}

/**
 * All that is loaded with some modules, also where something that is loaded late needs a part of it.
 *
 * @param {string} chunk
 * @param {readonly string[]} starts
 * @param {readonly string[]} [without] what is loaded with these alone
 * @returns {CodeSplittingGroup}
 */
function closureGroup(chunk, starts, without = []) {
  /** @type {Set<string> | undefined} */
  let closure;
  return {
    debugName: chunk,
    // Otherwise the bundler adds what the closure is to be without.
    includeDependenciesRecursively: without.length === 0,
    name: (file, context) => {
      closure ??= loadedWith(starts.map(sourceFile), context, without.map(sourceFile));
      return closure.has(file) ? chunk : null;
    },
  };
}

/**
 * What is loaded with some modules and with others, too.
 *
 * @param {string} chunk
 * @param {readonly string[]} some
 * @param {readonly string[]} others
 * @returns {CodeSplittingGroup}
 */
function commonGroup(chunk, some, others) {
  /** @type {readonly Set<string>[] | undefined} */
  let closures;
  return {
    debugName: chunk,
    name: (file, context) => {
      closures ??= [some, others].map((starts) => loadedWith(starts.map(sourceFile), context));
      return closures.every((closure) => closure.has(file)) ? chunk : null;
    },
  };
}

/** @param {string} source */
const sourceFile = (source) => path.join(sources, source);

/** @param {readonly string[]} starts @param {ChunkingContext} context @param {readonly string[]} [without] */
function loadedWith(starts, context, without = []) {
  const found = new Set(starts);
  // A set that grows while it is walked: what is added is visited too.
  for (const file of found)
    for (const imported of context.getModuleInfo(file)?.importedIds ?? [])
      if (!without.includes(imported)) found.add(imported);
  return found;
}
