// @ts-check
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { rolldown } from "rolldown";

import { root, ScriptError } from "./run.mjs";

const sources = path.join(root, "src");
const target = "node20.19";
const lateImport = /\bimport\("(\.\/[\w-]+\.js)"\)/g;
const builtInRequire = /\brequire\((["']node:[\w/]+["'])\)/g;
/** Modules of Node that take a millisecond or more to load and of which the sources use functions alone. */
const lateModules = new Set(['"node:child_process"', '"node:crypto"', '"node:fs/promises"']);
let lateCount = 0;
const builtInImport = /^import (?:(\w+)(?:, )?)?(\{.*\})? ?from ("node:[\w/]+");$/gm;

/** What a manifest or a child process names by its file; all else lies in `chunks/`. */
const entries = [
  "index.ts",
  "adapters/index.ts",
  "entries/client.ts",
  "entries/config.ts",
  "entries/content.ts",
  "entries/human.ts",
  "entries/permissions.ts",
  "entries/prompts.ts",
  "entries/tools.ts",
  "testing/index.ts",
  "testing/run-stdio.ts",
  "cli/main.ts",
];

/** Modules that stand for the code of a thread, and what they export. */
const threads = [
  {
    module: "schema/validate/schema-worker-module.ts",
    name: "schemaWorkerModule",
    entry: "schema/validate/schema-worker.ts",
  },
  {
    module: "store/sqlite/sqlite-writer-module.ts",
    name: "sqliteWriterModule",
    entry: "store/sqlite/sqlite-writer-thread.mjs",
  },
];

/**
 * Dependencies that become part of the package because they are many files, or CommonJS, which cost a
 * start much more than their code, or because they ask for a package of which nothing runs, as the
 * first one does. Users do not install them, so they are no `dependencies`.
 */
const bundled = new Set([
  "@hono/node-server",
  "commander",
  "hono/ws",
  "ipaddr.js",
  "jsonc-parser",
  "kysely",
  "smol-toml",
  "undici/lib/core/connect.js",
  "undici/lib/dispatcher/pool.js",
]);

/** What nearly everything needs: rooms, and single files of others. */
const base = [
  "errors",
  "text",
  "events",
  "ports",
  "async",
  "config/files/config-files.ts",
  "config/files/project-folders.ts",
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

/** What every host needs of the room; writing types out (`emit-types`) is for those who do that. */
const schema = ["schema/compile", "schema/guard", "schema/validate", "catalog/provider-schema.ts"];

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
 * Which modules share a file, first match first. Without this, each set of modules that the same entries
 * need would be a file of its own: `call` loaded 40 of them, and each takes 0.3 ms of CPU time on Node 20.
 */
const createGroups = () => [
  roomGroup("base", base),
  roomGroup("schema", schema),
  closureGroup("attach", ["host/resident/attach.ts"]),
  closureGroup("host", ["host/create-host.ts"]),
  closureGroup("core", ["protocol/client/core-client.ts"]),
  closureGroup("stdio", ["transport/stdio/stdio-transport.ts"]),
  closureGroup("store", store),
  closureGroup("queries", queries),
  // Help and completion need no host.
  roomGroup("cli", commandLine, (file, context) =>
    [...loadedWith([file], context)].every(
      (loaded) => loaded.startsWith("node:") || isIn([...base, ...commandLine])(loaded),
    ),
  ),
  roomGroup("commands", commandLine),
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
 * @returns {CodeSplittingGroup}
 */
function closureGroup(chunk, starts) {
  /** @type {Set<string> | undefined} */
  let closure;
  return {
    debugName: chunk,
    name: (file, context) => {
      closure ??= loadedWith(
        starts.map((source) => path.join(sources, source)),
        context,
      );
      return closure.has(file) ? chunk : null;
    },
  };
}

/** @param {readonly string[]} starts @param {ChunkingContext} context */
function loadedWith(starts, context) {
  const found = new Set(starts);
  // A set that grows while it is walked: what is added is visited too.
  for (const file of found)
    for (const imported of context.getModuleInfo(file)?.importedIds ?? []) found.add(imported);
  return found;
}

/**
 * Writes the package's JavaScript. Node finds, reads and links each module for itself, which costs a
 * start more than the code in them: modules that are needed together become one file. What the sources
 * import dynamically stays a file of its own. Comments go, because they stay in memory; nothing else is
 * minified: it would not start faster, and a stack should be readable.
 *
 * @param {string} folder
 */
export async function writeBundle(folder) {
  /** @type {string[]} */
  const complaints = [];
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(
      entries.map((file) => [file.replace(/\.[a-z]+$/, ""), path.join(sources, file)]),
    ),
    platform: "node",
    tsconfig: false,
    // jsonc-parser's `main` hides its own files from a bundler; its `module` does not.
    resolve: { mainFields: ["module", "main"] },
    external: (id) => !id.startsWith(".") && !path.isAbsolute(id) && !bundled.has(id),
    transform: { target, define: { builtVersion: JSON.stringify(ownVersion()) } },
    plugins: [
      { name: "threads", load: loadThread },
      { name: "modules of Node", transform: replaceRequire, renderChunk: replaceImports },
    ],
    // How long a plugin takes on a busy machine is no fault of the bundle.
    checks: { pluginTimings: false },
    onLog: (level, { message }) => {
      if (level === "warn") complaints.push(message);
    },
  });
  try {
    await bundle.write({
      dir: folder,
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "chunks/[name].js",
      minifyInternalExports: false,
      comments: { legal: true, annotation: false, jsdoc: false },
      // One character beyond Latin-1 makes the engine keep a whole file at two bytes a character.
      minify: {
        compress: false,
        mangle: false,
        codegen: { removeWhitespace: false, asciiOnly: true },
      },
      codeSplitting: { groups: createGroups() },
      banner: ({ moduleIds }) => foreignPackages(moduleIds).map(notice).join("\n"),
    });
  } finally {
    await bundle.close();
  }
  if (complaints.length > 0) throw new ScriptError(`${complaints.join("\n")}\nThe bundle failed.`);
  dropFacades(path.join(folder, "chunks"));
}

/**
 * A module that is imported late and shares a file gets another one that exports its names alone. Whoever imports it can
 * as well import the shared file, which exports more.
 *
 * @param {string} folder
 */
function dropFacades(folder) {
  const facade = /^import \{ ([\w$, ]+) \} from "(\.\/[\w-]+\.js)";\nexport \{ ([\w$, ]+) \};\n?$/;
  const files = readdirSync(folder).map((name) => path.join(folder, name));
  /** @type {Map<string, string>} */
  const targets = new Map();
  for (const file of files) {
    const [, imported = "", target = "", exported = ""] =
      facade.exec(readFileSync(file, "utf8")) ?? [];
    const names = new Set(imported.split(", "));
    if (target === "" || !exported.split(", ").every((name) => names.has(name))) continue;
    targets.set(`./${path.basename(file)}`, target);
    rmSync(file);
  }
  for (const file of files.filter((file) => existsSync(file))) {
    const code = readFileSync(file, "utf8");
    const direct = code.replaceAll(lateImport, (found, specifier) => {
      const target = targets.get(specifier);
      return target === undefined ? found : `import("${target}")`;
    });
    if (direct !== code) writeFileSync(file, direct);
  }
}

/**
 * The code of a thread in place of the module that stands for it.
 *
 * @param {string} file
 */
async function loadThread(file) {
  const thread = threads.find(({ module }) => file === path.join(sources, module));
  if (thread === undefined) return null;
  const code = await bundleThread(path.join(sources, thread.entry));
  return `export const ${thread.name} = { code: ${JSON.stringify(code)} };`;
}

/**
 * CommonJS asks for modules of Node by `require`, which an application's bundler cannot supply where it
 * writes ES modules. This way they are found wherever the code ends up, and as late as before. Not by
 * `process` alone, which a module may name something of its own.
 *
 * @param {string} code
 * @param {string} file
 */
function replaceRequire(code, file) {
  if (!file.includes(`${path.sep}node_modules${path.sep}`)) return null;
  // Undici does without it where Node was built so. Nothing of ours speaks HTTP/2, and to load it takes 4 ms.
  const used = code.replace("http2 = require('node:http2')", "throw new Error('not used')");
  return used.replace(builtInRequire, "globalThis.process.getBuiltinModule($1)");
}

/**
 * An import of a module of Node reads all of its properties to export them, and some of those load further modules:
 * `fs.ReadStream` all streams, `crypto.webcrypto` its keys. So only what is named is read, and functions of modules that
 * are slow to load when they are first called. On Node 20 the import of the package takes 25 ms of CPU time this way, and
 * 33 ms without.
 *
 * @param {string} code
 */
function replaceImports(code) {
  return code.replace(builtInImport, (_, whole, named, module) => {
    const get = `globalThis.process.getBuiltinModule(${module})`;
    if (whole === undefined && lateModules.has(module)) return lateFunctions(named, get);
    const names = named?.replaceAll(/(\w+) as (\w+)/g, "$1: $2");
    const declared = [
      ...(whole === undefined ? [] : [`const ${whole} = ${get};`]),
      ...(names === undefined ? [] : [`const ${names} = ${whole ?? get};`]),
    ];
    return declared.join(" ");
  });
}

/**
 * Functions that load their module with the first call of one.
 *
 * @param {string} named as an import names them: `{ hash, randomUUID as createId }`
 * @param {string} get what loads the module
 */
function lateFunctions(named, get) {
  const loaded = `loaded$${lateCount++}`;
  const declared = named
    .slice(1, -1)
    .split(",")
    .map((name) => {
      const [imported = "", local = imported] = name.trim().split(" as ");
      return `const ${local} = (...args) => (${loaded} ??= ${get}).${imported}(...args);`;
    });
  return [`let ${loaded};`, ...declared].join(" ");
}

/**
 * One script with all that a thread needs but Node itself: it finds no package where an application's
 * bundle lies.
 *
 * @param {string} entry
 */
async function bundleThread(entry) {
  const bundle = await rolldown({
    cwd: root,
    input: entry,
    platform: "node",
    tsconfig: false,
    external: /^node:/,
    transform: { target },
  });
  try {
    const { output } = await bundle.generate({
      format: "cjs",
      codeSplitting: false,
      comments: { legal: true, annotation: false, jsdoc: false },
      minify: {
        compress: false,
        mangle: false,
        codegen: { removeWhitespace: true, asciiOnly: true },
      },
      banner: ({ moduleIds }) => foreignPackages(moduleIds).map(notice).join("\n"),
    });
    // Node takes it for a module instead of a script where it was started with `--input-type=module`.
    return output[0].code.replace(builtInRequire, "globalThis.process.getBuiltinModule($1)");
  } finally {
    await bundle.close();
  }
}

/** @returns {string} */
function ownVersion() {
  return JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")).version;
}

/** @param {readonly string[]} files @returns {string[]} their folders */
function foreignPackages(files) {
  const folders = files.map((file) =>
    /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file),
  );
  return [...new Set(folders.flatMap((match) => match ?? []))];
}

/**
 * Every licence wants to stay with the code.
 *
 * @param {string} folder of an installed package
 */
function notice(folder) {
  const { name, version } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((name) => /^licen[cs]e(?:\.|$)/i.test(name));
  if (file === undefined) throw new ScriptError(`${name} has no licence to pass on.`);
  return `/*!\n${name} ${version}\n\n${readFileSync(path.join(folder, file), "utf8").trim()}\n*/`;
}
