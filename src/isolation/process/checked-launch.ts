import { statSync } from "node:fs";

/** A file or folder as it was found: its path, every link followed, and which one of the disk it is. */
export interface FoundFile {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
}

/** What was looked at when a launch was checked. It is what may be started, and nothing else. */
export interface CheckedLaunch {
  /** `none`: there was none. `unknown`: it could not be looked for. */
  readonly file: FoundFile | "none" | "unknown";
  readonly folder: FoundFile | "none";
}

/** Undefined where there is nothing. `path` holds no link. */
export function identifyFile(path: string): FoundFile | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : { path, device: stats.dev, inode: stats.ino };
}

/** Whether what was found is still there. */
export function isStillThere({ path, device, inode }: FoundFile): boolean {
  const now = identifyFile(path);
  return now?.device === device && now.inode === inode;
}
