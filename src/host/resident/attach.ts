import { McpError } from "../../errors/mcp-error.ts";
import type { HostOptions } from "../host.ts";
import { ApiClient } from "./api-client.ts";
import { AttachedHost, type AttachOptions } from "./attached-host.ts";
import { environmentMark, residentPlace } from "./ground.ts";
import { readRecord } from "./resident-record.ts";

/** What came of looking for a host that runs here. */
export interface Attached {
  readonly host?: AttachedHost;
  /** Why there is none to use; absent where none runs. */
  readonly reason?: string;
}

/**
 * Attaches this process to the host that `plugboard up` runs for the same user, version, folder, files and store,
 * if there is one and the variables that its entries name have the same values here. Never throws: whoever finds
 * none works alone.
 */
export async function attachToResident(
  options: HostOptions,
  attach: AttachOptions = {},
): Promise<Attached> {
  const record = await readRecord(residentPlace(options)).catch(() => undefined);
  if (record === undefined) return {};
  const api = new ApiClient(record);
  try {
    const { variables } = await api.greet();
    const env = options.env ?? process.env;
    const mark = environmentMark(variables as readonly string[], env, record.token);
    return { host: await AttachedHost.attach(api, mark, attach) };
  } catch (error) {
    api.close();
    if (!McpError.is(error)) throw error;
    return { reason: `${error.message} (process ${record.pid})` };
  }
}
