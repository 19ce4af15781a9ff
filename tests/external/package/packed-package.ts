import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

export const run = promisify(execFile);
export const root = path.resolve(import.meta.dirname, "../../..");

/** A new folder of an application in which the packed tarball was installed from the registry, as a user does. */
export async function installPackage(): Promise<{
  readonly folder: string;
  readonly said: string;
}> {
  const folder = await mkdtemp(path.join(tmpdir(), "plugboard-installed-"));
  const shell = process.platform === "win32";
  const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const packed = await run("npm", pack, { cwd: root, shell });
  const [tarball] = JSON.parse(packed.stdout) as { readonly filename: string }[];
  // A name and a version of its own: neither may be taken for those of the package.
  const manifest = { name: "an-application", version: "9.9.9", private: true, type: "module" };
  await writeFile(path.join(folder, "package.json"), JSON.stringify(manifest));
  const install = ["install", "--no-audit", "--no-fund", `./${tarball?.filename ?? ""}`];
  const { stdout, stderr } = await run("npm", install, { cwd: folder, shell });
  return { folder, said: stdout + stderr };
}
