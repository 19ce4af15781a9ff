import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { createHost, type HostOptions, type McpHost } from "../../src/index.ts";

/** A folder with configuration of its own, as somebody else may have written it. */
export interface Project extends AsyncDisposable {
  readonly home: string;
  readonly cwd: string;
  host(options?: HostOptions): Promise<McpHost>;
  /** Makes the entry the project's server `project`. */
  write(entry: object, name?: string): Promise<void>;
}

export async function makeProject(): Promise<Project> {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), "approval-")));
  const [home, cwd] = [path.join(root, "home"), path.join(root, "work")];
  await mkdir(path.join(cwd, ".plugboard"), { recursive: true });
  await mkdir(home);
  return {
    home,
    cwd,
    host: (options) => createHost({ home, cwd, watch: false, ...options }),
    write: (entry, name = "project") =>
      writeFile(
        path.join(cwd, ".plugboard", "mcp.json"),
        JSON.stringify({ servers: { [name]: entry } }),
      ),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}
