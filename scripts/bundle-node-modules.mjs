// @ts-check
import path from "node:path";

const builtInRequire = /\brequire\((["'])(?:node:)?(url|(?<=node:)[\w/]+)\1\)/g;
/** Modules of Node that take a millisecond or more to load and of which the sources use functions alone. */
const lateModules = new Set(['"node:child_process"', '"node:crypto"', '"node:fs/promises"']);
let lateCount = 0;
const builtInImport = /^import (?:(\w+)(?:, )?)?(\{.*\})? ?from ("node:[\w/]+");$/gm;
/** How the bundler asks for a module of Node in CommonJS, and for another of its own scripts. */
const builtInDeclaration = /^let (node_[\w$]+) = require\(("node:[\w/]+")\);$/gm;
const scriptDeclaration = /^const (require_[\w$]+) = require\("\.\/([\w-]+)\.cjs"\);$/gm;
/** Scripts that every command runs. */
const commonScripts = new Set(["base", "cli", "rolldown-runtime"]);
/** A line, unless it holds the code of a thread as text. */
const codeOutsideOfThreads = /^(?!const \w+ = \{ code: ").+$/gm;

/**
 * CommonJS asks for modules of Node by `require`, which an application's bundler cannot supply where it
 * writes ES modules. This way they are found wherever the code ends up, and as late as before. Not by
 * `process` alone, which a module may name something of its own.
 *
 * @param {string} code
 * @param {string} file
 */
export function replaceRequire(code, file) {
  if (!file.includes(`${path.sep}node_modules${path.sep}`)) return null;
  // Undici does without it where Node was built so. Nothing of ours speaks HTTP/2, and to load it takes 4 ms.
  const used = code.replace("http2 = require('node:http2')", "throw new Error('not used')");
  // Commander starts commands that are programs of their own, and we have none. To load it takes 3 ms.
  return getBuiltInModules(used.replace("= require('node:child_process')", "= undefined"));
}

/**
 * Asks for modules of Node in a way that works in scripts and in ES modules. The bundler names one of them without
 * `node:`, where it says in CommonJS what `import.meta.url` is.
 *
 * @param {string} code
 */
export function getBuiltInModules(code) {
  return code.replace(builtInRequire, 'globalThis.process.getBuiltinModule("node:$2")');
}

/**
 * An import of a module of Node reads all of its properties to export them, and some of those load further modules:
 * `fs.ReadStream` all streams, `crypto.webcrypto` its keys. So only what is named is read, and functions of modules that
 * are slow to load when they are first called. On Node 20 the import of the package takes 25 ms of CPU time this way, and
 * 33 ms without.
 *
 * @param {string} code
 */
export function replaceImports(code) {
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
 * The same for CommonJS, where whatever is imported is a property of its module: each module of Node, and each other
 * script, is loaded when the first of them is read. A module of ours may therefore run later than it is imported.
 *
 * @param {string} code
 */
export function replaceDeclarations(code) {
  const lateScripts = [...code.matchAll(scriptDeclaration)].filter(
    ([, , script = ""]) => !commonScripts.has(script),
  );
  const names = [...code.matchAll(builtInDeclaration), ...lateScripts].map(([, name = ""]) => name);
  return code.replaceAll(codeOutsideOfThreads, (line) => {
    const declared = line.replace(
      builtInDeclaration,
      (_, name, module) =>
        `let ${name}$loaded; const ${name} = () => ${name}$loaded ??= globalThis.process.getBuiltinModule(${module});`,
    );
    const late = declared.replace(scriptDeclaration, (whole, name, script) =>
      commonScripts.has(script)
        ? whole
        : `let ${name}$loaded; const ${name} = () => ${name}$loaded ??= require("./${script}.cjs");`,
    );
    return names.reduce(readLate, getBuiltInModules(late));
  });
}

/** @param {string} line @param {string} name of a module of Node */
function readLate(line, name) {
  if (!line.includes(name)) return line;
  const own = String.raw`(?<![\w$])${name.replaceAll("$", String.raw`\$`)}(?![\w$])`;
  if (new RegExp(String.raw`^${own} = [\w.]*__toESM\(${own}(?:, 1)?\);$`).test(line)) return "";
  const late = line
    .replaceAll(
      new RegExp(String.raw`\bnew ${own}(?:\.default)?((?:\.\w+)+)`, "g"),
      (_, members) => `new (${name}()${members})`,
    )
    .replaceAll(new RegExp(String.raw`${own}(?:\.default\b|(?=\.))`, "g"), () => `${name}()`);
  if (new RegExp(String.raw`${own}(?!\(\)| = \(\) =>)|\bnew ${own}`).test(late))
    throw new Error(`${name} is used in a way that is not known here: ${late.slice(0, 200)}`);
  return late;
}
