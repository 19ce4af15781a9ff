import path from "node:path";

import { isUsersOwn, type ServerConfig } from "../../config/keys/server-config.ts";
import { resolvePath } from "../../config/variables/resolve-path.ts";
import {
  beginsWithFolder,
  expandFolders,
  type Folders,
} from "../../config/variables/variable-reference.ts";

/** The folders that decide where processes start. */
export interface LaunchGround extends Folders {
  /** The user's `.plugboard` folder. */
  readonly userFolder: string;
}

/**
 * The folder a server's process starts in, links not followed. What an entry of the user's own runs must not
 * depend on the project that somebody happens to work in: `npx`, `python -m` and many others prefer what lies
 * in their folder. Such a server therefore starts in a folder of its own, unless its entry names another.
 */
export function launchFolder(config: ServerConfig, ground: LaunchGround): string {
  const { transport, provenance } = config;
  const cwd = transport.kind === "stdio" ? transport.cwd : undefined;
  if (cwd !== undefined) {
    const folder = expandFolders(cwd, ground);
    if (beginsWithFolder(cwd)) return path.normalize(folder);
    return resolvePath(folder, ground.workspaceFolder) ?? folder;
  }
  return isUsersOwn(provenance) ? privateFolder(config, ground) : ground.workspaceFolder;
}

/** The folder that the user's own server has for itself. It may not be there yet. */
export function privateFolder({ id }: ServerConfig, { userFolder }: LaunchGround): string {
  // File systems take names of 255 bytes.
  return path.join(userFolder, "servers", id.slice(0, 200));
}
