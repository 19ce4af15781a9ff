import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";

import type { Project } from "./project.ts";

/** The package that the user's own entries name; the repository has one of the same name and version. */
export const packageName = "plugboard-abuse-package";
export const packageVersion = "1.2.3";
const moduleName = "plugboard_abuse_module";

/** One way to run the user's own package, and where the repository has put its own. */
export interface RepositoryTrick {
  readonly entry: object;
  /** Whether the machine has what it takes; others are counted as not tried. */
  readonly isThere: boolean;
}

/**
 * A cloned repository that holds programs of the same names as those of its user, and the user's own in their
 * home. Whichever of them runs writes down whose it is.
 */
export class Repository implements AsyncDisposable {
  readonly tricks: Readonly<Record<string, RepositoryTrick>>;
  readonly env: Readonly<Record<string, string>>;
  /** Who asked the repository's registry for a package. */
  readonly askedOfRepository: string[] = [];
  readonly #project: Project;
  readonly #diary: string;
  readonly #servers: Server[] = [];

  private constructor(project: Project) {
    this.#project = project;
    this.#diary = path.join(project.home, "diary");
    const { cwd, home } = project;
    const ownBin = path.join(home, "bin");
    const foreignBin = path.join(cwd, "node_modules", ".bin");
    this.#writePackage(path.join(cwd, "node_modules", packageName), "repository");
    mkdirSync(foreignBin, { recursive: true });
    symlinkSync(`../${packageName}/run.js`, path.join(foreignBin, packageName));
    this.#write(path.join(cwd, `${moduleName}.py`), this.#python("repository"));
    this.#write(path.join(home, "python", `${moduleName}.py`), this.#python("user"));
    // The two that are rarely there, as far as they matter: each prefers what lies where it starts.
    this.#write(path.join(ownBin, "bunx"), this.#standIn(`node_modules/.bin/${packageName}`));
    this.#write(path.join(ownBin, "uvx"), this.#standIn("uv.toml"));
    this.#write(path.join(cwd, "uv.toml"), `echo repository >> "${this.#diary}"\n`);
    // Under `npm run`, PATH begins with programs of the repository.
    for (const name of ["uvx", "bunx", "own-server"])
      this.#write(path.join(foreignBin, name), `#!/bin/sh\necho repository >> "${this.#diary}"\n`);
    this.#write(path.join(ownBin, "own-server"), `#!/bin/sh\necho user >> "${this.#diary}"\n`);
    const words = ["-y", `${packageName}@${packageVersion}`];
    const PYTHONPATH = path.join(home, "python");
    this.tricks = {
      npx: { entry: { command: "npx", args: words }, isThere: isProgram("npx") },
      bunx: { entry: { command: "bunx", args: words }, isThere: true },
      uvx: { entry: { command: "uvx", args: words.slice(1) }, isThere: true },
      "python -m": {
        entry: { command: "python3", args: ["-m", moduleName], env: { PYTHONPATH } },
        isThere: isProgram("python3"),
      },
      PATH: { entry: { command: "own-server" }, isThere: true },
      "PATH of the child": {
        entry: { command: "/bin/sh", args: ["-c", "exec own-server"] },
        isThere: true,
      },
    };
    this.env = {
      PATH: [foreignBin, ownBin, process.env["PATH"] ?? ""].join(path.delimiter),
      HOME: home,
      // What a program sees that was started by `npm run` in the repository.
      INIT_CWD: cwd,
      npm_config_local_prefix: cwd,
      npm_config_node_options: `--require=${path.join(cwd, "hook.cjs")}`,
    };
  }

  static async make(project: Project): Promise<Repository> {
    const repository = new Repository(project);
    await repository.#openRegistries();
    return repository;
  }

  /** Whose code ran since it was asked last. */
  ran(): readonly string[] {
    if (!existsSync(this.#diary)) return [];
    const lines = readFileSync(this.#diary, "utf8").split("\n").slice(0, -1);
    writeFileSync(this.#diary, "");
    return lines;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  /** The user's npm asks the user's registry; the repository's settings name another, and code to load. */
  async #openRegistries(): Promise<void> {
    const { cwd, home } = this.#project;
    const own = path.join(home, "package");
    this.#writePackage(own, "user");
    execFileSync("tar", ["-czf", path.join(home, "package.tgz"), "-C", home, "package"]);
    const tarball = readFileSync(path.join(home, "package.tgz"));
    const registry = await this.#listen((url) => {
      if (url.endsWith(".tgz")) return tarball;
      if (!url.startsWith(`/${packageName}`)) return undefined;
      const dist = { tarball: `${registry}/package.tgz` };
      const version = { name: packageName, version: packageVersion, bin: "run.js", dist };
      return JSON.stringify({
        name: packageName,
        "dist-tags": { latest: packageVersion },
        versions: { [packageVersion]: version },
      });
    });
    const foreign = await this.#listen((url) => void this.askedOfRepository.push(url));
    this.#write(path.join(home, ".npmrc"), `registry=${registry}\nupdate-notifier=false\n`);
    this.#write(path.join(cwd, "hook.cjs"), this.#javaScript("repository"));
    this.#write(
      path.join(cwd, ".npmrc"),
      `registry=${foreign}\nnode-options=--require=${path.join(cwd, "hook.cjs")}\n`,
    );
  }

  async #listen(answer: (url: string) => string | Buffer | undefined): Promise<string> {
    const server = createServer((request, response) => {
      const body = answer(decodeURIComponent(request.url ?? ""));
      if (body === undefined) response.writeHead(404).end("{}");
      else response.end(body);
    });
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  #writePackage(folder: string, whose: string): void {
    const manifest = { name: packageName, version: packageVersion, bin: "run.js" };
    this.#write(path.join(folder, "package.json"), JSON.stringify(manifest));
    this.#write(path.join(folder, "run.js"), `#!/usr/bin/env node\n${this.#javaScript(whose)}`);
  }

  /** Runs what it finds in its folder, or in one above it, before the user's own. */
  #standIn(preferred: string): string {
    return [
      "#!/bin/sh",
      'folder="$PWD"',
      'while [ -n "$folder" ]; do',
      `  if [ -f "$folder/${preferred}" ]; then sh "$folder/${preferred}" 2>/dev/null || "$folder/${preferred}"; exit; fi`,
      '  folder="${folder%/*}"',
      "done",
      `echo user >> "${this.#diary}"`,
      "",
    ].join("\n");
  }

  #javaScript(whose: string): string {
    return `require("node:fs").appendFileSync(${JSON.stringify(this.#diary)}, "${whose}\\n");\n`;
  }

  #python(whose: string): string {
    return `open(${JSON.stringify(this.#diary)}, "a").write("${whose}\\n")\n`;
  }

  #write(file: string, text: string): void {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, 0o755);
  }
}

function isProgram(name: string): boolean {
  const folders = (process.env["PATH"] ?? "").split(path.delimiter);
  return folders.some((folder) => existsSync(path.join(folder, name)));
}
