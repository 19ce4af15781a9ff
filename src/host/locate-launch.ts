import { findCommand } from "../config/find-command.ts";
import type { LaunchFacts, LaunchPlace } from "../config/launch-facts.ts";
import { type LaunchGround, launchFolder } from "../config/launch-folder.ts";
import type { ServerConfig, StdioTransportConfig } from "../config/server-config.ts";
import { hasReference } from "../config/variable-reference.ts";
import { launchEnvironment } from "../isolation/launch-environment.ts";
import type { CommandFile } from "../ports/launch-question.ts";
import { reveal } from "../text/secret-text.ts";

export interface Machine {
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** Where processes start. */
  readonly ground: LaunchGround;
}

export function thisMachine(hostEnv: Machine["hostEnv"], ground: LaunchGround): Machine {
  return { hostEnv, platform: process.platform, ground };
}

/** Where a launch would take place, for its id. */
export function locateLaunch(config: ServerConfig, machine: Machine): LaunchPlace {
  const { transport } = config;
  if (transport.kind !== "stdio") return {};
  const folder = launchFolder(config, machine.ground);
  const file = locateCommand(config, transport, { machine, folder });
  return { commandPath: file.status === "found" ? file.path : file.status, folder };
}

/** The file that the facts of a launch name. */
export function commandFileOf({ commandPath = "not found" }: LaunchFacts): CommandFile {
  const isUnknown = commandPath === "not found" || commandPath === "not looked up";
  return isUnknown ? { status: commandPath } : { status: "found", path: commandPath };
}

/** The file that would run. Expands no variable and contacts no machine, whatever the entry says. */
function locateCommand(
  config: ServerConfig,
  { command, cwd, env: given, envPassthrough, inheritEnv }: StdioTransportConfig,
  { machine, folder }: { readonly machine: Machine; readonly folder: string },
): CommandFile {
  const { hostEnv, platform, ground } = machine;
  const env = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, reveal(value)]),
  );
  const isWindows = platform === "win32";
  const ownPath = Object.entries(env)
    .filter(([name]) => (isWindows ? name.toUpperCase() : name) === "PATH")
    .map(([, value]) => value);
  // On Windows to look at `\\host\share` is to sign in there.
  const named = [command, cwd ?? "", ...ownPath.flatMap((value) => value.split(";"))];
  const isRemote = isWindows && named.some((text) => /^[\\/]{2}/.test(text));
  const isPath = command.includes("/") || (isWindows && command.includes("\\"));
  if (isRemote || (!isPath && ownPath.some((value) => hasReference(value))))
    return { status: "not looked up" };
  const file = findCommand(command, {
    cwd: folder,
    env: launchEnvironment(config, { hostEnv, env, envPassthrough, inheritEnv, platform, ground }),
    platform,
  });
  return file === undefined ? { status: "not found" } : { status: "found", path: file };
}
