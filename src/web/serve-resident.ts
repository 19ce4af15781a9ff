import { randomBytes } from "node:crypto";

import { McpError } from "../errors/mcp-error.ts";
import type { HostOptions, McpHost } from "../host/host.ts";
import { ApiClient } from "../host/resident/api-client.ts";
import { residentPlace } from "../host/resident/ground.ts";
import { ResidentGround } from "../host/resident/named-variables.ts";
import {
  makeFolders,
  readRecord,
  removeRecord,
  writeRecord,
} from "../host/resident/resident-record.ts";
import type { SharedQuestions } from "../host/resident/shared-questions.ts";
import { listenOnSocket } from "../listener/private-socket.ts";
import { createApi } from "./api.ts";

export interface ResidentOptions {
  readonly host: McpHost;
  readonly questions: SharedQuestions;
  /** As the host was created: they say for whom it is there. */
  readonly options: HostOptions;
}

/** A host that other processes use. */
export interface Resident {
  /** Lets go of everybody; the host itself goes on. */
  close(): Promise<void>;
}

/** What came of offering a host to others. */
export interface Served {
  readonly resident?: Resident;
  /** Why others cannot use it. */
  readonly reason?: string;
}

/**
 * Lets other processes of the user use a host over a local socket, as long as no other host does that for the same
 * folder, files and store. Never throws for what a machine may lack: the host works without it.
 */
export async function serveResident({
  host,
  questions,
  options,
}: ResidentOptions): Promise<Served> {
  const place = residentPlace(options);
  const other = await findOther(options);
  if (other !== undefined)
    return { reason: `process ${other} runs a host for this folder already` };
  const token = randomBytes(32).toString("hex");
  const ground = new ResidentGround(options.env ?? process.env, token);
  const api = createApi({ host, questions, ground });
  try {
    await makeFolders(place);
    const socket = await listenOnSocket({ path: place.socket, token, fetch: api.fetch });
    await writeRecord(place, { token, pid: process.pid });
    return {
      resident: {
        close: async () => {
          await removeRecord(place, token);
          api.close();
          await socket.close();
        },
      },
    };
  } catch (error) {
    api.close();
    const { code, message } = error as NodeJS.ErrnoException;
    if (!McpError.is(error) && code === undefined) throw error;
    return { reason: message };
  }
}

/** The process that serves this place, if it answers. */
async function findOther(options: HostOptions): Promise<number | undefined> {
  const record = await readRecord(residentPlace(options));
  if (record === undefined) return undefined;
  const api = new ApiClient(record);
  try {
    await api.greet();
    return record.pid;
  } catch (error) {
    if (McpError.is(error)) return undefined;
    throw error;
  } finally {
    api.close();
  }
}
