// @ts-check
import "./require-node.mjs";
import path from "node:path";

import { ensureBuilt, isBuilt } from "./build-dist.mjs";
import { ensureInstalled, isInstalled } from "./install.mjs";
import { withLock } from "./lock.mjs";
import { main, note, root } from "./run.mjs";

/**
 * Runs `body` while no other script of this clone installs or builds.
 *
 * @template T
 * @param {() => Promise<T>} body
 */
export function exclusively(body) {
  return withLock(path.join(root, ".bootstrap", "lock"), body, {
    onWait: () => note("another process is installing or building; waiting for it …"),
  });
}

/**
 * Makes a clone ready: dependencies as locked and, unless told otherwise, a `dist` that fits the
 * sources. Does nothing, and takes no lock, when both are there.
 *
 * @param {{ build?: boolean }} [options]
 */
export async function bootstrap({ build = true } = {}) {
  if (isInstalled(root) && (!build || isBuilt())) return;
  await exclusively(async () => {
    await ensureInstalled(root);
    if (build) await ensureBuilt();
  });
}

/**
 * Installs the private manifest of a folder below the root.
 *
 * @param {string} directory relative to the root
 */
export async function bootstrapFolder(directory) {
  const absolute = path.join(root, directory);
  if (!isInstalled(absolute)) await exclusively(() => ensureInstalled(absolute));
}

if (process.argv[1] === import.meta.filename) await main(() => bootstrap());
