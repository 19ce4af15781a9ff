import type { Limits } from "../config/keys/limits.ts";
import type { ServerConfig } from "../config/keys/server-config.ts";

const packageRunners: ReadonlySet<string> = new Set(["npx", "uvx", "bunx", "pnpx", "pipx"]);

/** Time for start and handshake. The first start of a package runner may include a download. */
export function connectDeadlineMs(
  config: ServerConfig,
  limits: Limits,
  hasConnectedOnce: boolean,
): number {
  if (config.connectTimeoutMs !== undefined) return config.connectTimeoutMs;
  if (!hasConnectedOnce && config.transport.kind === "stdio") {
    const executable = config.transport.command.split(/[/\\]/).at(-1) ?? "";
    if (packageRunners.has(executable.replace(/\.(?:cmd|exe)$/i, "")))
      return limits.packageRunnerConnectTimeoutMs;
  }
  return limits.connectTimeoutMs;
}
