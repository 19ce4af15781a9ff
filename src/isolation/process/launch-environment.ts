import { projectFolders } from "../../config/files/project-folders.ts";
import { isUsersOwn, type ServerConfig } from "../../config/keys/server-config.ts";
import { childEnvironment, type ChildEnvironmentOptions } from "./child-environment.ts";
import { type LaunchGround, launchFolder } from "./launch-folder.ts";
import { withSearchPath } from "./search-path.ts";

export interface LaunchEnvironmentOptions extends ChildEnvironmentOptions {
  readonly ground: LaunchGround;
}

/** The environment of a server's process. That of the user's own server finds no program of the project. */
export function launchEnvironment(
  config: ServerConfig,
  { ground, ...options }: LaunchEnvironmentOptions,
): Readonly<Record<string, string>> {
  const env = childEnvironment(options);
  if (!isUsersOwn(config.provenance)) return env;
  const { workspaceFolder, home } = ground;
  return withSearchPath(env, {
    without: projectFolders({ cwd: workspaceFolder, home }),
    cwd: launchFolder(config, ground),
  });
}
