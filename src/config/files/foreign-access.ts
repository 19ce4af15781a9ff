import { readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";

import { shellWord } from "../../text/shell-word.ts";

/** The user that this process runs as. */
export interface FileUser {
  readonly uid: number;
  readonly name: string;
  /** The user's private group, which has no other member; undefined where there is none. */
  readonly privateGroup: number | undefined;
}

/**
 * Finds out whether other users can write a configuration file of the user's own, and names the command that
 * mends it; undefined when only the user, or root, can. Checks the file, its folder and, behind a link, the
 * file and folder it leads to. On Windows nothing is checked, because permissions differ there.
 */
export function findForeignAccess(file: string): string | undefined {
  const target = unlessFailed(() => realpathSync.native(file));
  if (target === undefined) return undefined;
  return foreignAccessTo([target, path.dirname(target), path.dirname(path.resolve(file))]);
}

/** Runs the check on files and folders that are named one by one. */
export function foreignAccessTo(places: readonly string[]): string | undefined {
  const found = findForeignWriter(places);
  if (found === undefined) return undefined;
  const { what, place, command } = found;
  return `is not used, because ${what} ${place}: run ${command} after reading it`;
}

/** A right of other users to change a file or folder. */
export interface ForeignWriter {
  /** Who may do what, to be followed by the place: `every user may write`. */
  readonly what: string;
  readonly place: string;
  /** The command that takes the right away. */
  readonly command: string;
}

/** Finds the first of these files and folders that other users can write. */
export function findForeignWriter(places: readonly string[]): ForeignWriter | undefined {
  const user = currentUser();
  if (user === undefined) return undefined;
  for (const place of new Set(places)) {
    const stats = unlessFailed(() => statSync(place));
    const found = stats === undefined ? undefined : describeAccess(place, stats, user);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Describes what other users can do to `place`, with the command that prevents it. */
export function describeAccess(
  place: string,
  { uid, gid, mode }: Pick<Stats, "uid" | "gid" | "mode">,
  user: FileUser,
): ForeignWriter | undefined {
  const found = (what: string, command: string): ForeignWriter => ({
    what,
    place,
    command: `${command} ${shellWord(place)}`,
  });
  if (uid !== user.uid && uid !== 0)
    return found(`another user (uid ${uid}) owns`, `sudo chown ${user.name}`);
  if ((mode & 0o002) !== 0) return found("every user may write", "chmod o-w");
  if ((mode & 0o020) !== 0 && gid !== user.privateGroup)
    return found(`every member of group ${gid} may write`, "chmod g-w");
  return undefined;
}

let groups: string | undefined;

function currentUser(): FileUser | undefined {
  const uid = process.geteuid?.();
  if (uid === undefined) return undefined;
  const { username, gid } = userInfo(uid);
  groups ??= unlessFailed(() => readFileSync("/etc/group", "utf8")) ?? "";
  const privateGroup = isPrivateGroup(groups, gid, { uid, name: username }) ? gid : undefined;
  return { uid, name: username, privateGroup };
}

/** What a file system answers; undefined where it refuses. */
function unlessFailed<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** Names a user; one without a name is shown by number. */
function userInfo(uid: number): { readonly username: string; readonly gid: number } {
  try {
    return os.userInfo();
  } catch {
    return { username: String(uid), gid: process.getegid?.() ?? -1 };
  }
}

/**
 * Whether the group is named like the user and has no other member; compares numbers where no list has the
 * group.
 */
export function isPrivateGroup(
  list: string,
  gid: number,
  { uid, name }: Pick<FileUser, "uid" | "name">,
): boolean {
  const known = list.split("\n").map((line) => line.split(":"));
  const group = known.find((fields) => fields[2] === String(gid));
  if (group === undefined) return gid === uid;
  const [groupName, , , members = ""] = group;
  return groupName === name && members.split(",").every((it) => it === "" || it === name);
}
