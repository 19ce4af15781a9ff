import { Stop } from "../../async/stop.ts";
import type { ServerConnection } from "../../connection/server-connection.ts";
import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { Clock } from "../../ports/clock.ts";
import type { RegisteredServer } from "../../registry/server-registry.ts";
import { durationText } from "../../text/duration-text.ts";

/** The list of one server; `items` is empty where `error` says why there is none. */
export interface ServerList<Item> {
  readonly serverName: string;
  readonly items: readonly Item[];
  readonly error: McpError | undefined;
}

/** What the servers listed, in the order of the servers. */
export interface ContentList<Item> extends ReadonlyArray<Item> {
  /** Every server that the agent can see and whose list is not in here, with the reason. */
  readonly missing: readonly { readonly serverName: string; readonly error: McpError }[];
}

/** How the servers are asked. */
export interface ServerAsking<Item> {
  /** What is listed, in the plural. */
  readonly what: string;
  readonly clock: Clock;
  /** Time for each server by itself, its start included. */
  readonly limitMs: number;
  readonly signal: AbortSignal | undefined;
  readonly connectionOf: (
    server: RegisteredServer,
  ) => Pick<ServerConnection, "state" | "lastError">;
  readonly list: (server: RegisteredServer, signal: AbortSignal) => Promise<readonly Item[]>;
  readonly onList: ((list: ServerList<Item>) => void) | undefined;
}

/**
 * Asks all servers at the same time. One that fails, or is not done in its time, is named as missing; its
 * start goes on, so that it may answer the next time. Rejects as `cancelled` when the caller gives up.
 */
export async function listOfEach<Item>(
  servers: readonly RegisteredServer[],
  asking: ServerAsking<Item>,
): Promise<ContentList<Item>> {
  const lists = await Promise.all(
    servers.map(async (server) => {
      const list = await listOf(server, asking);
      asking.onList?.(list);
      return list;
    }),
  );
  return contentList(lists);
}

export function contentList<Item>(lists: readonly ServerList<Item>[]): ContentList<Item> {
  const missing = lists.flatMap(({ serverName, error }) =>
    error === undefined ? [] : [{ serverName, error }],
  );
  const items = lists.flatMap((list) => list.items);
  // A complete list equals a plain array; an incomplete one shows `missing` when it is printed.
  const enumerable = missing.length > 0;
  return Object.defineProperty(items, "missing", { value: missing, enumerable }) as typeof items & {
    readonly missing: typeof missing;
  };
}

async function listOf<Item>(
  server: RegisteredServer,
  asking: ServerAsking<Item>,
): Promise<ServerList<Item>> {
  const { signal: caller, limitMs, clock, list } = asking;
  const { name: serverName } = server.config;
  const limit = new Stop({ signals: [caller], clock, afterMs: limitMs });
  try {
    return { serverName, items: await list(server, limit.signal), error: undefined };
  } catch (error) {
    if (caller?.aborted === true || !McpError.is(error)) throw error;
    return { serverName, items: [], error: limit.isOutOfTime ? tooLate(server, asking) : error };
  } finally {
    limit.clear();
  }
}

function tooLate<Item>(
  server: RegisteredServer,
  { what, limitMs, connectionOf }: ServerAsking<Item>,
): McpError {
  const { name: serverName } = server.config;
  const { state, lastError } = connectionOf(server);
  const isStarting = state === "connecting" || state === "reconnecting";
  const reason = isStarting ? ": the server is still starting" : "";
  const message = `no list of its ${what} within ${durationText(limitMs)}${reason}`;
  return createError("timeout", message, {
    serverName,
    cause: lastError,
    hint: "ask again later, or for this server alone, or with a longer timeoutMs",
  });
}
