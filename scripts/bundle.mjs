// @ts-check
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { rolldown } from "rolldown";

import { commandLineGroups, libraryGroups } from "./bundle-groups.mjs";
import {
  getBuiltInModules,
  replaceDeclarations,
  replaceImports,
  replaceRequire,
} from "./bundle-node-modules.mjs";
import { root, ScriptError } from "./run.mjs";

const sources = path.join(root, "src");
const target = "node20.19";
const lateImport = /\bimport\("(\.\/[\w-]+\.js)"\)/g;

/** What a manifest or a child process names by its file; all else lies in `chunks/`. */
const libraryEntries = [
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
];

/** Modules that stand for the code of a thread, or of a process that is started in the same way, and what they export. */
const threads = [
  {
    module: "secrets/keychain/keychain-program-module.ts",
    name: "keychainProgramModule",
    entry: "secrets/keychain/keychain-program.mjs",
  },
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

/**
 * Writes the package's JavaScript. Node finds, reads and links each module for itself, which costs a
 * start more than the code in them: modules that are needed together become one file. What the sources
 * import dynamically stays a file of its own. Comments go, because they stay in memory; nothing else is
 * minified: it would not start faster, and a stack should be readable.
 *
 * @param {string} folder
 */
export async function writeBundle(folder) {
  await writeFiles(libraryEntries, replaceImports, {
    dir: folder,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name].js",
    codeSplitting: { groups: libraryGroups() },
  });
  dropFacades(path.join(folder, "chunks"));
  await writeCommandLine(path.join(folder, "cli"));
}

/**
 * Writes the command line as scripts of CommonJS with all that it runs, since Node keeps no compiled form of an ES
 * module before version 22, and loads one more slowly in every version. `bin/load-scripts.js` loads them.
 *
 * @param {string} folder
 */
async function writeCommandLine(folder) {
  await writeFiles(["cli/main.ts"], replaceDeclarations, {
    dir: folder,
    format: "cjs",
    entryFileNames: "main.cjs",
    chunkFileNames: "[name].cjs",
    exports: "named",
    // Scripts that were compiled before cannot import: Node 20 fails then, and warns of an experiment otherwise.
    dynamicImportInCjs: false,
    codeSplitting: { groups: commandLineGroups() },
  });
  markBuild(folder);
}

/** Puts a hash of all scripts in front of the first: by it their compiled form is known to be theirs. @param {string} folder */
function markBuild(folder) {
  const hash = createHash("sha256");
  const names = readdirSync(folder).filter((name) => name.endsWith(".cjs"));
  for (const name of names.toSorted())
    hash.update(`${name}\0`).update(readFileSync(path.join(folder, name)));
  const first = path.join(folder, "main.cjs");
  writeFileSync(first, `// build ${hash.digest("hex")}\n${readFileSync(first, "utf8")}`);
}

/**
 * @param {readonly string[]} entries
 * @param {(code: string) => string} renderChunk
 * @param {import("rolldown").OutputOptions} output
 */
async function writeFiles(entries, renderChunk, output) {
  /** @type {string[]} */
  const complaints = [];
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(
      entries.map((file) => [file.replace(/\.[a-z]+$/, ""), path.join(sources, file)]),
    ),
    platform: "node",
    tsconfig: false,
    // Nobody imports what a script exports but other scripts, and groups that are loaded late need this.
    preserveEntrySignatures: output.format === "cjs" ? "allow-extension" : "exports-only",
    // jsonc-parser's `main` hides its own files from a bundler; its `module` does not.
    resolve: { mainFields: ["module", "main"] },
    external: (id) => !id.startsWith(".") && !path.isAbsolute(id) && !bundled.has(id),
    transform: { target, define: { builtVersion: JSON.stringify(ownVersion()) } },
    plugins: [
      { name: "threads", load: loadThread },
      { name: "modules of Node", transform: replaceRequire, renderChunk },
    ],
    // How long a plugin takes on a busy machine is no fault of the bundle.
    checks: { pluginTimings: false },
    onLog: (level, { message }) => {
      if (level === "warn") complaints.push(message);
    },
  });
  try {
    await bundle.write({
      ...output,
      minifyInternalExports: false,
      comments: { legal: true, annotation: false, jsdoc: false },
      // One character beyond Latin-1 makes the engine keep a whole file at two bytes a character.
      minify: {
        compress: false,
        mangle: false,
        codegen: { removeWhitespace: false, asciiOnly: true },
      },
      banner: ({ moduleIds }) => foreignPackages(moduleIds).map(notice).join("\n"),
    });
  } finally {
    await bundle.close();
  }
  if (complaints.length > 0) throw new ScriptError(`${complaints.join("\n")}\nThe bundle failed.`);
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
export async function loadThread(file) {
  const thread = threads.find(({ module }) => file === path.join(sources, module));
  if (thread === undefined) return null;
  const code = await bundleThread(path.join(sources, thread.entry));
  return `export const ${thread.name} = { code: ${JSON.stringify(code)} };`;
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
    return getBuiltInModules(output[0].code);
  } finally {
    await bundle.close();
  }
}

/** @returns {string} */
export function ownVersion() {
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
