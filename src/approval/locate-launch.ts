import { realpathSync } from "node:fs";

import type { ServerConfig, StdioTransportConfig } from "../config/keys/server-config.ts";
import { usesWorkspace } from "../config/variables/reference-uses.ts";
import { expandFolders, hasReference } from "../config/variables/variable-reference.ts";
import type { CommandFile } from "../human/launch-question.ts";
import { identifyFile } from "../isolation/process/checked-launch.ts";
import { findCommand } from "../isolation/process/find-command.ts";
import { launchEnvironment } from "../isolation/process/launch-environment.ts";
import { type LaunchGround, launchFolder } from "../isolation/process/launch-folder.ts";
import { reveal } from "../text/secrets/secret-text.ts";
import type { LaunchFacts, LaunchPlace } from "./launch-facts.ts";

export interface Machine {
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The folders that decide where processes start. */
  readonly ground: LaunchGround;
}

export function thisMachine(hostEnv: Machine["hostEnv"], ground: LaunchGround): Machine {
  return { hostEnv, platform: process.platform, ground };
}

/** Finds the folder a process would start in and the file its command stands for: both are part of the `LaunchId`. */
export function locateLaunch(config: ServerConfig, machine: Machine): LaunchPlace {
  const { transport } = config;
  if (transport.kind !== "stdio") return {};
  const written = launchFolder(config, machine.ground);
  const folder = isRemote(transport, machine) ? written : realPath(written);
  const file = locateCommand(config, transport, { machine, folder });
  return {
    commandPath: file.status === "found" ? file.path : file.status,
    folder,
    ...(usesWorkspace(config) ? { workspaceFolder: realPath(machine.ground.workspaceFolder) } : {}),
    checked: {
      file:
        file.status === "found"
          ? (identifyFile(file.path) ?? "none")
          : file.status === "not found"
            ? "none"
            : "unknown",
      folder: isRemote(transport, machine) ? "none" : (identifyFile(folder) ?? "none"),
    },
  };
}

/** Follows every link; gives the path itself where there is nothing. */
function realPath(place: string): string {
  try {
    return realpathSync.native(place);
  } catch {
    return place;
  }
}

/** Whether a look would leave this machine: on Windows, looking at `\\host\share` signs in there. */
function isRemote(
  { command, cwd = "", env }: StdioTransportConfig,
  { platform }: Machine,
): boolean {
  const folders = ownPath(env, platform).flatMap((value) => value.split(";"));
  return platform === "win32" && [command, cwd, ...folders].some((text) => /^[\\/]{2}/.test(text));
}

/** The values of `PATH` that an entry sets, however it spells the name. */
function ownPath(env: StdioTransportConfig["env"], platform: NodeJS.Platform): readonly string[] {
  return Object.entries(env)
    .filter(([name]) => (platform === "win32" ? name.toUpperCase() : name) === "PATH")
    .map(([, value]) => reveal(value));
}

/** Reads the file of a launch back from its facts. */
export function commandFileOf({ commandPath = "not found" }: LaunchFacts): CommandFile {
  const isUnknown = commandPath === "not found" || commandPath === "not looked up";
  return isUnknown ? { status: commandPath } : { status: "found", path: commandPath };
}

/** Finds the file that would run. Expands no variable and contacts no machine, whatever the entry says. */
function locateCommand(
  config: ServerConfig,
  transport: StdioTransportConfig,
  { machine, folder }: { readonly machine: Machine; readonly folder: string },
): CommandFile {
  const { envPassthrough, inheritEnv } = transport;
  const { hostEnv, platform, ground } = machine;
  const command = expandFolders(transport.command, ground);
  const env = Object.fromEntries(
    Object.entries(transport.env).map(([name, value]) => [name, reveal(value)]),
  );
  const isPath = command.includes("/") || (platform === "win32" && command.includes("\\"));
  const isSearchedByVariable =
    !isPath && ownPath(transport.env, platform).some((value) => hasReference(value));
  if (isRemote(transport, machine) || isSearchedByVariable) return { status: "not looked up" };
  const file = findCommand(command, {
    cwd: folder,
    env: launchEnvironment(config, { hostEnv, env, envPassthrough, inheritEnv, platform, ground }),
    platform,
  });
  return file === undefined ? { status: "not found" } : { status: "found", path: file };
}
