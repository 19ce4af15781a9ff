import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";

const maxCacheFolders = 200;
const maxManifestBytes = 1_024 * 1_024;
const packageName = /^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*$/;

/**
 * Finds the release of a package that `npx` ran last on this machine; undefined when it never did. Reads
 * files of its cache only.
 */
export async function cachedPackageVersion(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const cache = cacheFolder(env);
  if (cache === undefined || !packageName.test(name)) return undefined;
  const folders = await readdir(cache).catch(() => []);
  const found = await Promise.all(
    folders.slice(0, maxCacheFolders).map(async (folder) => {
      const file = path.join(cache, folder, "node_modules", name, "package.json");
      return await readRelease(file).catch(() => undefined);
    }),
  );
  const releases = found.filter((release) => release !== undefined);
  return releases.toSorted((one, other) => other.at - one.at)[0]?.version;
}

function cacheFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const named = env["npm_config_cache"];
  if (named !== undefined) return path.join(named, "_npx");
  const local = env["LOCALAPPDATA"];
  if (process.platform === "win32")
    return local === undefined ? undefined : path.join(local, "npm-cache", "_npx");
  const home = env["HOME"];
  return home === undefined ? undefined : path.join(home, ".npm", "_npx");
}

async function readRelease(
  file: string,
): Promise<{ readonly version: string; readonly at: number } | undefined> {
  const { size, mtimeMs } = await stat(file);
  if (size > maxManifestBytes) return undefined;
  const { version } = JSON.parse(await readFile(file, "utf8")) as { readonly version?: unknown };
  const isRelease = typeof version === "string" && /^\d+\.\d+\.\d+[\w.+-]*$/.test(version);
  return isRelease ? { version, at: mtimeMs } : undefined;
}
