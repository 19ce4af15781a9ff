import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { type AstNode, identifierName, literalText, parseSource, walk } from "./syntax-tree.ts";

const root = path.resolve(import.meta.dirname, "..");

interface Manifest {
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const readText = (file: string): string => readFileSync(path.join(root, file), "utf8");
const readManifest = (folder: string): Manifest =>
  JSON.parse(readText(path.join(folder, "package.json"))) as Manifest;

const folders = [".", "tests/external", "tests/mutation", "bench", "bench/newer-node"].filter(
  (folder) => existsSync(path.join(root, folder, "package.json")),
);

function packedFiles(): string[] {
  const output = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    shell: process.platform === "win32",
  });
  const [tarball] = JSON.parse(output) as { readonly files: { readonly path: string }[] }[];
  return tarball?.files.map((file) => file.path) ?? [];
}

function repositoryFiles(): string[] {
  const listing = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  return execFileSync("git", listing, { cwd: root, encoding: "utf8" })
    .split("\0")
    .filter((file) => file !== "" && existsSync(path.join(root, file)));
}

/** What built files import, in code and in types: other files, from each to the next, and packages. */
function reach(entries: readonly string[]): {
  readonly files: ReadonlySet<string>;
  readonly packages: ReadonlySet<string>;
} {
  const reached = new Set(entries);
  const packages = new Set<string>();
  // A set that grows while it is walked: what is added is visited too.
  for (const file of reached) {
    walk(parseSource(readText(file)), (node) => {
      const target = importedBy(node);
      if (target === undefined) return;
      if (target.startsWith(".")) reached.add(builtFile(file, target));
      else if (!target.startsWith("node:"))
        packages.add(target.split("/", target.startsWith("@") ? 2 : 1).join("/"));
    });
  }
  return { files: reached, packages };
}

/** What a node of a syntax tree asks for, as an ES module or by `require`. */
function importedBy(node: AstNode): string | undefined {
  if (/Import|Export/.test(node.type)) return literalText(node["source"] ?? node["argument"]);
  const isRequire = node.type === "CallExpression" && identifierName(node["callee"]) === "require";
  return isRequire ? literalText((node["arguments"] as readonly unknown[])[0]) : undefined;
}

/** Declarations name each other as the sources do. */
function builtFile(from: string, target: string): string {
  return path.posix
    .join(path.posix.dirname(from), target)
    .replace(/\.ts$/, ".d.ts")
    .replace(/\.mjs$/, ".d.mts");
}

describe("the published package", () => {
  const files = packedFiles();

  it("holds the built code, the schemas, the documents, and nothing else", () => {
    const intended =
      /^(?:dist\/.+(?:\.d\.m?ts|\.js)|dist\/cli\/[\w-]+\.cjs|bin\/(?:[\w-]+\.js|package\.json)|schema\/(?:mcp|cli\/[a-z-]+)\.json|docs\/(?:mcp\.example\.jsonc|[\w-]+\.md)|examples\/(?:servers\/)?[\w-]+\.ts|package\.json|[A-Z]+\.md|LICENSE)$/;
    expect(files.filter((file) => !intended.test(file))).toEqual([]);
    expect(files.filter((file) => file.includes(".test."))).toEqual([]);
  });

  it("holds every file that its documents and examples refer to", () => {
    const references = { ".md": /\]\((?!https?:|#)([^)#]+)/g, ".ts": /from "(\.[^"]+)"/g };
    const broken = Object.entries(references)
      .flatMap(([ending, reference]) =>
        files
          .filter((file) => file.endsWith(ending) && !file.startsWith("dist/"))
          .flatMap((file) =>
            [...readText(file).matchAll(reference)].map(([, link = ""]) => [file, link] as const),
          ),
      )
      .filter(([file, link]) => {
        const target = path.posix.join(path.posix.dirname(file), link);
        return !files.some((other) => other === target || other.startsWith(`${target}/`));
      });
    expect(broken).toEqual([]);
  });

  it("holds the modules that start as a program, each as a file of its own", () => {
    const started = repositoryFiles()
      .filter((file) => file.startsWith("src/") && !file.endsWith(".test.ts"))
      .flatMap((file) => [...readText(file).matchAll(/ownModule\("([^"]+)\.\w+"\)/g)])
      .map(([, name]) => `dist/${name}.js`);
    expect(started).toContain("dist/testing/run-stdio.js");
    expect(started.filter((file) => !files.includes(file))).toEqual([]);
  });

  it("holds the code of its threads as text: an application's bundle has no file of ours", () => {
    const modules = repositoryFiles().filter((file) => /^src\/.*-module\.ts$/.test(file));
    const threads = modules.filter((file) => readText(file).includes(": ThreadModule ="));
    const names = threads.map((file) => /export const (\w+)/.exec(readText(file))?.[1]);
    expect(names).toContain("schemaWorkerModule");
    const code = files
      .filter((file) => file.endsWith(".js"))
      .map(readText)
      .join("\n");
    for (const name of names) expect(code).toContain(`${name} = { code: "`);
  });

  it("holds no code that none of its entries loads", () => {
    const code = files.filter((file) => /^dist\/.+\.c?js$/.test(file));
    const entries = code.filter((file) => !/^dist\/chunks\/|\.cjs$/.test(file));
    entries.push("dist/cli/main.cjs");
    expect([...reach(entries).files].toSorted()).toEqual(code.toSorted());
  });

  it("names only packages that are installed with it, in its code and in its public types", () => {
    const { exports = {}, dependencies, peerDependencies } = readManifest(".");
    const types = Object.values(exports).flatMap((target) =>
      typeof target === "string" ? [] : [path.posix.normalize(target["types"] ?? "")],
    );
    const code = files.filter((file) => /^dist\/.+\.c?js$/.test(file));
    const installed = Object.keys({ ...dependencies, ...peerDependencies });
    const named = [...reach([...code, ...types]).packages];
    expect(named).toContain("re2js");
    expect(named.filter((name) => !installed.includes(name))).toEqual([]);
  });

  it("says where it comes from, how it is installed, and is built before it is packed", () => {
    const manifest = JSON.parse(readText("package.json")) as Readonly<Record<string, unknown>>;
    const repository = "https://github.com/plugboard-mcp/plugboard";
    expect(manifest).toMatchObject({
      repository: { type: "git", url: `git+${repository}.git` },
      homepage: `${repository}#readme`,
      bugs: { url: `${repository}/issues` },
      scripts: { prepack: "node scripts/bootstrap.mjs" },
    });
    expect(readText("README.md")).toContain("\nnpm install plugboard\n");
  });

  it("holds every file its manifest points at", () => {
    const { bin = {}, exports = {} } = readManifest(".");
    const targets = [...Object.values(bin), ...Object.values(exports)].flatMap((target) =>
      typeof target === "string" ? [target] : Object.values(target),
    );
    const missing = targets
      .map((target) => path.posix.normalize(target))
      .filter((target) => {
        // A star stands for the names of several files.
        const [start = "", end] = target.split("*");
        return !files.some((file) =>
          end === undefined ? file === target : file.startsWith(start) && file.endsWith(end),
        );
      });
    expect(missing, "is the build up to date? npm run build").toEqual([]);
  });
});

describe("each entry of the package", () => {
  const { exports = {} } = readManifest(".");
  const names = Object.entries(exports).flatMap(([entry, target]) =>
    typeof target === "string" ? [] : [path.posix.join("plugboard", entry)],
  );
  /** What a program in the package's folder prints, which finds the package by its own name. */
  const printed = (type: "module" | "commonjs", program: string): unknown =>
    JSON.parse(
      execFileSync(process.execPath, [`--input-type=${type}`, "--no-warnings", "-e", program], {
        cwd: root,
        encoding: "utf8",
      }),
    );

  it("loads as an ES module and by require, with the same names", () => {
    const list = JSON.stringify(names);
    const imported = printed(
      "module",
      `const modules = await Promise.all(${list}.map((name) => import(name)));
       console.log(JSON.stringify(modules.map((module) => Object.keys(module).sort())))`,
    );
    const required = printed(
      "commonjs",
      `console.log(JSON.stringify(${list}.map((name) => Object.keys(require(name)).sort())))`,
    );
    expect(names).toContain("plugboard/client");
    expect(imported).toContainEqual(expect.arrayContaining(["createHost"]));
    expect(required).toEqual(imported);
  });

  it("throws the error classes of the main entry", () => {
    const program = `
      const { McpConfigError, McpError } = require("plugboard");
      const { parseToolName } = require("plugboard/tools");
      require("plugboard/client").connectClient(7).catch((error) => {
        let thrown;
        try { parseToolName(7) } catch (misuse) { thrown = misuse }
        console.log(JSON.stringify([error instanceof McpConfigError, thrown instanceof McpError]));
      });`;
    expect(printed("commonjs", program)).toEqual([true, true]);
  });

  it("P13: lists the tools of a process without loading what speaks HTTP", () => {
    const program = `
      import { createHost } from "plugboard";
      const args = ["dist/testing/run-stdio.js", "demo"];
      const demo = { command: process.execPath, args, cwd: process.cwd() };
      const host = await createHost({ config: false, store: false, logger: false, servers: { demo } });
      const session = host.session({ level: "yolo" });
      await session.ready();
      const count = session.tools().length;
      const web = /^NativeModule (?:https?|http2|tls|internal\\/deps\\/undici\\/undici)$/;
      console.log(JSON.stringify([count > 0, process.moduleLoadList.filter((name) => web.test(name))]));
      await host.close();`;
    expect(printed("module", program)).toEqual([true, []]);
  });
});

describe.each(folders)("the manifest of %s", (folder) => {
  it("pins exact versions", () => {
    const { dependencies, devDependencies, optionalDependencies } = readManifest(folder);
    const pinned = { ...dependencies, ...devDependencies, ...optionalDependencies };
    const loose = Object.entries(pinned).filter(
      // Another name of a package pins its version, too.
      ([, version]) => !/^(?:npm:[@\w./-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version),
    );
    expect(loose).toEqual([]);
  });

  it("has a lockfile that agrees with it and names no download address", () => {
    const { packages } = JSON.parse(readText(path.join(folder, "package-lock.json"))) as {
      readonly packages: Readonly<Record<string, Manifest & { readonly resolved?: string }>>;
    };
    const { dependencies, devDependencies, optionalDependencies } = readManifest(folder);
    expect(packages[""]?.dependencies).toEqual(dependencies);
    expect(packages[""]?.devDependencies).toEqual(devDependencies);
    expect(packages[""]?.optionalDependencies).toEqual(optionalDependencies);
    const addressed = Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined);
    expect(addressed).toEqual([]);
  });
});

describe("the repository", () => {
  it("names no folder of a machine and no registry", () => {
    // Written so that this file does not match itself.
    const forbidden = /(?<![\w.])\/(?:wor[k]|far[m])\/|registry\.[a-z]+j[s]|deb\.[a-z]+\.or[g]/;
    const offenders = repositoryFiles().filter((file) => {
      const text = readText(file);
      return forbidden.test(text) || text.includes(`${root}${path.sep}`);
    });
    expect(offenders).toEqual([]);
  });
});
