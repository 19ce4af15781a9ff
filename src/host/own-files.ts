import path from "node:path";

import { userFolder } from "../config/files/config-files.ts";
import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import { defaultStoreFile, memoryLocation } from "../store/tables/store-location.ts";
import type { HostOptions } from "./host.ts";

/**
 * The file or address of the store; undefined for a host that keeps nothing. Throws `config_invalid` when such
 * a host is to have an audit trail.
 */
export function storeLocation(options: HostOptions): string | undefined {
  const { store, config, home, audit } = options;
  if (store === false || (store === undefined && config === false)) {
    if (audit === "required") throw noPlaceForAudit();
    return undefined;
  }
  const env = ownEnvironment(options);
  const named = store ?? env["PLUGBOARD_DB"] ?? "";
  return named === "" ? defaultStoreFile({ home, env }) : named;
}

/** The folder for the logs of servers; undefined for a host that keeps nothing in the user's folder. */
export function logFolder(options: HostOptions): string | undefined {
  const { store, config } = options;
  const keepsNothing = config === false || store === false || store === memoryLocation;
  return keepsNothing ? undefined : path.join(ownFolder(options), "logs");
}

/** The user's `.plugboard` folder. */
export function ownFolder(options: HostOptions): string {
  return userFolder({ home: options.home, env: ownEnvironment(options) });
}

/** The variables that say where the host's own files are. A home that the program chose is not overruled by them. */
export function ownEnvironment({ home, env }: HostOptions): NonNullable<HostOptions["env"]> {
  return home === undefined ? (env ?? process.env) : {};
}

function noPlaceForAudit(): McpError {
  return createError("config_invalid", '`audit: "required"` needs a store to write calls down in', {
    hint: "name a file as `store`; with `config: false` there is none by itself",
    details: { parameter: "options.store" },
  });
}
