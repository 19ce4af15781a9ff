import { findCommand } from "../config/find-command.ts";
import type { LaunchFacts, LaunchPlace } from "../config/launch-facts.ts";
import type { ServerConfig, StdioTransportConfig } from "../config/server-config.ts";
import { hasReference } from "../config/variable-reference.ts";
import { childEnvironment } from "../isolation/child-environment.ts";
import type { CommandFile } from "../ports/launch-question.ts";

export interface Machine {
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** Where processes start whose entry names no folder. */
  readonly cwd: string;
}

export function thisMachine(hostEnv: Machine["hostEnv"], cwd: string): Machine {
  return { hostEnv, platform: process.platform, cwd };
}

/** Where a launch would take place, for its id. */
export function locateLaunch({ transport }: ServerConfig, machine: Machine): LaunchPlace {
  if (transport.kind !== "stdio") return {};
  const folder = transport.cwd ?? machine.cwd;
  const file = locateCommand(transport, { ...machine, cwd: folder });
  return { commandPath: file.status === "found" ? file.path : file.status, folder };
}

/** The file that the facts of a launch name. */
export function commandFileOf({ commandPath = "not found" }: LaunchFacts): CommandFile {
  const isUnknown = commandPath === "not found" || commandPath === "not looked up";
  return isUnknown ? { status: commandPath } : { status: "found", path: commandPath };
}

/** The file that would run. Expands no variable and contacts no machine, whatever the entry says. */
function locateCommand(transport: StdioTransportConfig, machine: Machine): CommandFile {
  const { command, env, envPassthrough, inheritEnv } = transport;
  const { hostEnv, platform } = machine;
  const isWindows = platform === "win32";
  const ownPath = Object.entries(env)
    .filter(([name]) => (isWindows ? name.toUpperCase() : name) === "PATH")
    .map(([, value]) => value);
  // On Windows to look at `\\host\share` is to sign in there.
  const named = [command, transport.cwd ?? "", ...ownPath.flatMap((value) => value.split(";"))];
  const isRemote = isWindows && named.some((text) => /^[\\/]{2}/.test(text));
  const isPath = command.includes("/") || (isWindows && command.includes("\\"));
  if (isRemote || (!isPath && ownPath.some((value) => hasReference(value))))
    return { status: "not looked up" };
  const file = findCommand(command, {
    cwd: machine.cwd,
    env: childEnvironment({ hostEnv, env, envPassthrough, inheritEnv, platform }),
    platform,
  });
  return file === undefined ? { status: "not found" } : { status: "found", path: file };
}
