import { type StatsListener, unwatchFile, watchFile } from "node:fs";

const intervalMs = 400;

/**
 * Calls `onChange` after any of `files` has changed, appeared or gone. It polls the files instead of
 * using events of the system: editors replace files, folders come and go, and network drives send no
 * events. It does not keep the process alive.
 */
export function watchFiles(files: readonly string[], onChange: () => void): () => void {
  const listener: StatsListener = (now, before) => {
    const isSame =
      now.mtimeMs === before.mtimeMs && now.size === before.size && now.ino === before.ino;
    if (!isSame) onChange();
  };
  for (const file of files) watchFile(file, { interval: intervalMs, persistent: false }, listener);
  return () => {
    for (const file of files) unwatchFile(file, listener);
  };
}
