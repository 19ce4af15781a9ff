import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";

const maxCacheFolders = 200;
const maxManifestBytes = 1_024 * 1_024;
const packageName = /^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*$/;

/** What the manifest of a package says, as far as it matters here. */
export interface PackageManifest {
  readonly version: string;
  /** The versions of Node that the package says it supports. */
  readonly nodeRange: string | undefined;
}

/** Finds the version of `cachedPackage`. */
export async function cachedPackageVersion(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  return (await cachedPackage(name, env))?.version;
}

/**
 * Finds the release of a package that `npx` ran last on this machine; undefined when it never did. Reads
 * files of its cache only.
 */
export async function cachedPackage(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<PackageManifest | undefined> {
  const cache = cacheFolder(env);
  if (cache === undefined || !packageName.test(name)) return undefined;
  const folders = await readdir(cache).catch(() => []);
  const found = await Promise.all(
    folders.slice(0, maxCacheFolders).map(async (folder) => {
      const file = path.join(cache, folder, "node_modules", name, "package.json");
      return await readManifest(file);
    }),
  );
  const releases = found.filter((release) => release !== undefined);
  return releases.toSorted((one, other) => other.at - one.at)[0];
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

/** Reads a `package.json`; undefined for one that is missing, too large, or names no release. */
export async function readManifest(
  file: string,
): Promise<(PackageManifest & { readonly at: number }) | undefined> {
  try {
    const { size, mtimeMs } = await stat(file);
    if (size > maxManifestBytes) return undefined;
    const { version, engines } = JSON.parse(await readFile(file, "utf8")) as {
      readonly version?: unknown;
      readonly engines?: { readonly node?: unknown } | null;
    };
    if (typeof version !== "string" || !/^\d+\.\d+\.\d+[\w.+-]*$/.test(version)) return undefined;
    const range = engines?.node;
    return { version, nodeRange: typeof range === "string" ? range : undefined, at: mtimeMs };
  } catch {
    return undefined;
  }
}
