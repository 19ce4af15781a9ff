import { findCommand } from "../config/find-command.ts";
import type { LaunchPlace } from "../config/launch-identity.ts";
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

/** As it is now: the current folder of a program may change. */
export function thisMachine(hostEnv: Machine["hostEnv"]): Machine {
  return { hostEnv, platform: process.platform, cwd: process.cwd() };
}

/** Where a launch would take place, for its identity. */
export function locateLaunch({ transport }: ServerConfig, machine: Machine): LaunchPlace {
  if (transport.kind !== "stdio") return {};
  const file = locateCommand(transport, machine);
  return {
    commandPath: file.status === "found" ? file.path : file.status,
    folder: folderOf(transport, machine),
  };
}

export function folderOf({ cwd }: StdioTransportConfig, machine: Machine): string {
  return cwd ?? machine.cwd;
}

/** The file that would run. Expands no variable and contacts no machine, whatever the entry says. */
export function locateCommand(transport: StdioTransportConfig, machine: Machine): CommandFile {
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
  const path = findCommand(command, {
    cwd: folderOf(transport, machine),
    env: childEnvironment({ hostEnv, env, envPassthrough, inheritEnv, platform }),
    platform,
  });
  return path === undefined ? { status: "not found" } : { status: "found", path };
}
