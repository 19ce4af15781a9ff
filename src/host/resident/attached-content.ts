import type {
  Completion,
  McpPrompt,
  McpResource,
  McpResourceTemplate,
  PromptText,
  ResourceContents,
} from "../../catalog/server-content.ts";
import { createError } from "../../errors/families.ts";
import type { ContentList, ServerList } from "../../session/content/content-lists.ts";
import type { ContentListOptions, ContentOptions } from "../../session/content/session-content.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import type { SharedContent } from "../shared-host.ts";
import { type ApiClient, reviveError } from "./api-client.ts";

/** Resources and prompts of a session at another host; `address` is the path of the session there. */
export function createAttachedContent(
  api: ApiClient,
  address: () => Promise<string>,
): SharedContent {
  const use = async (
    what: string,
    body: JsonObject,
    options: ContentListOptions<never>,
  ): Promise<unknown> => {
    const { signal, timeoutMs, onList } = options;
    const path = `${await address()}/content/${what}`;
    for await (const line of api.lines(path, { ...body, timeoutMs }, signal)) {
      if (isJsonObject(line["list"])) onList?.(reviveList(line["list"]));
      if ("result" in line) return line["result"];
    }
    throw createError("connection_lost", "the host that runs here has ended");
  };
  const list = async <Item>(
    what: string,
    options: ContentListOptions<Item> = {},
  ): Promise<ContentList<Item>> => {
    const found = await use(what, { server: options.server }, options);
    const { items, missing } = found as { items: Item[]; missing: readonly JsonObject[] };
    const revived = missing.map(({ serverName, error }) => ({
      serverName: String(serverName),
      error: reviveError(error),
    }));
    return Object.assign(items, { missing: revived });
  };
  const single = async <T>(
    what: string,
    body: JsonObject,
    { signal, timeoutMs }: ContentOptions = {},
  ): Promise<T> => (await use(what, body, { signal, timeoutMs })) as T;
  return {
    resources: (options) => list<McpResource>("resources", options),
    resourceTemplates: (options) => list<McpResourceTemplate>("resource-templates", options),
    prompts: (options) => list<McpPrompt>("prompts", options),
    readResource: (server, uri, options) =>
      single<readonly ResourceContents[]>("read", { server, uri }, options),
    prompt: (server, name, args, options) =>
      single<PromptText>("prompt", { server, name, arguments: args }, options),
    complete: (server, question, options) =>
      single<Completion>("complete", { server, question }, options),
  };
}

function reviveList(list: JsonObject): ServerList<never> {
  const { serverName, items, error } = list;
  return {
    serverName: String(serverName),
    items: items as readonly never[],
    error: error === undefined ? undefined : reviveError(error),
  };
}
