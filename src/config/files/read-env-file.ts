import { realpath } from "node:fs/promises";
import path from "node:path";

import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { SecretText } from "../../text/secrets/secret-text.ts";
import { quoteName } from "../keys/check-value.ts";
import { formatOrigin } from "../keys/config-problem.ts";
import { isOfProject, isUsersOwn, type ServerConfig } from "../keys/server-config.ts";
import { changesExecution } from "../variables/executing-variables.ts";
import { expandFolders, type Folders } from "../variables/variable-reference.ts";
import { baseDirOf } from "./config-files.ts";
import { findForeignAccess } from "./foreign-access.ts";
import { isWithin } from "./project-folders.ts";
import { readConfigText } from "./read-config-file.ts";

/**
 * Reads the variables in the `envFile` of an entry, all of them secrets; none where it names no file. Throws
 * `config_invalid`, without a value, when the file cannot be read or sets a variable that changes what is
 * executed.
 */
export async function readEnvFile(
  config: ServerConfig,
  folders: Folders,
): Promise<Readonly<Record<string, SecretText>>> {
  const { transport, provenance } = config;
  if (transport.kind !== "stdio" || transport.envFile === undefined) return {};
  const file = path.resolve(folders.workspaceFolder, expandFolders(transport.envFile, folders));
  const invalid = (problem: string, hint?: string): McpError =>
    createError(
      "config_invalid",
      `"envFile" ${file} ${problem} (${formatOrigin(provenance, folders.workspaceFolder)})`,
      { serverName: config.name, hint, details: { ...provenance, field: "envFile" } },
    );
  // The author of a project must not pass a file of the user to a server of the author's choice.
  if (isOfProject(provenance) && !(await liesInProject(file, provenance.path)))
    throw invalid("lies outside of the project, whose entries may only name files inside of it");
  const read = readConfigText(file);
  if (read.status === "missing") throw invalid("does not exist");
  if (read.status === "failed") throw invalid(read.reason);
  const foreign = isUsersOwn(provenance) ? findForeignAccess(file) : undefined;
  if (foreign !== undefined) throw invalid(foreign);
  const { parseEnv } = await import("node:util");
  const values = Object.entries(parseEnv(read.text.replace(/^\uFEFF/, "")));
  for (const [name, value = ""] of values) {
    // No approval shows the file, and it may change at any time, so it may not change what is executed.
    if (changesExecution(name))
      throw invalid(
        `sets ${quoteName(name)}, which changes what is executed`,
        'write it into "env" of the entry, where whoever approves the entry sees it',
      );
    if (value.includes("\0")) throw invalid(`has a NUL character in ${quoteName(name)}`);
  }
  return Object.fromEntries(values.map(([name, value = ""]) => [name, new SecretText(value)]));
}

async function liesInProject(file: string, configFile: string | undefined): Promise<boolean> {
  if (configFile === undefined) return false;
  return isWithin(await realPath(file), await realPath(baseDirOf(configFile)));
}

/** Follows the links of a path; returns the path itself where nothing exists. */
async function realPath(place: string): Promise<string> {
  return await realpath(place).catch(() => place);
}
