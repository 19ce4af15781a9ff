import type { Limits } from "../config/keys/limits.ts";
import { createError } from "../errors/families.ts";
import type { Clock } from "../ports/clock.ts";
import { collectPages } from "../protocol/client/collect-pages.ts";
import type { ProtocolClient, RequestOptions } from "../protocol/protocol-client.ts";
import { methodNotFound, rpcCodeOf } from "../protocol/wire/json-rpc.ts";
import { isJsonObject, type JsonObject } from "../text/json-object.ts";

/** Something a server can be asked to read out. Only described here: nothing is fetched by listing. */
export interface McpResource {
  readonly serverName: string;
  /** A locator of the server, to be given back to it letter by letter. */
  readonly uri: string;
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly mimeType: string | undefined;
  readonly size: number | undefined;
}

/** A family of resources, with an RFC 6570 template in place of the address. */
export interface McpResourceTemplate extends Omit<McpResource, "uri" | "size"> {
  readonly uriTemplate: string;
}

/** One piece of what a resource holds: text, or bytes in base64. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType: string | undefined;
  readonly text?: string;
  readonly blob?: string;
}

export interface McpPrompt {
  readonly serverName: string;
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly arguments: readonly PromptArgument[];
}

export interface PromptArgument {
  readonly name: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
}

export interface PromptText {
  readonly description: string | undefined;
  readonly messages: readonly PromptMessage[];
}

export interface PromptMessage {
  readonly role: "user" | "assistant";
  /** A content block as tools return them. */
  readonly content: JsonObject;
}

/** What completion is wanted for: an argument of a prompt, or a variable of a template. */
export type CompletionTarget = { readonly prompt: string } | { readonly uriTemplate: string };

export interface CompletionQuestion {
  readonly of: CompletionTarget;
  readonly argument: string;
  /** What has been typed so far. */
  readonly value: string;
  /** Arguments that have been filled in already. */
  readonly known?: Readonly<Record<string, string>> | undefined;
}

export interface Completion {
  readonly values: readonly string[];
  readonly total: number | undefined;
  readonly hasMore: boolean;
}

/** What a server listed beside tools; absent where no list has been seen. */
export interface KnownContent {
  readonly resources?: readonly McpResource[];
  readonly prompts?: readonly McpPrompt[];
}

export interface ContentSource {
  readonly serverName: string;
  readonly client: ProtocolClient;
  readonly limits: Limits;
  readonly clock: Clock;
}

/** All resources, within the caps of every list. An entry that is none never costs the others. */
export function listResources(
  source: ContentSource,
  options?: RequestOptions,
): Promise<readonly McpResource[]> {
  return list(source, "resources", { ...options }, (item) => {
    const { uri, size } = item;
    if (typeof uri !== "string" || uri === "") return undefined;
    const sized = typeof size === "number" ? size : undefined;
    return { ...described(item, source.serverName, uri), uri, size: sized };
  });
}

export function listResourceTemplates(
  source: ContentSource,
  options?: RequestOptions,
): Promise<readonly McpResourceTemplate[]> {
  return list(source, "resourceTemplates", { ...options }, (item) => {
    const { uriTemplate } = item;
    if (typeof uriTemplate !== "string" || uriTemplate === "") return undefined;
    return { ...described(item, source.serverName, uriTemplate), uriTemplate };
  });
}

export function listPrompts(
  source: ContentSource,
  options?: RequestOptions,
): Promise<readonly McpPrompt[]> {
  return list(source, "prompts", { ...options }, (item) => {
    const { name, title, description } = item;
    if (typeof name !== "string" || name === "") return undefined;
    return {
      serverName: source.serverName,
      name,
      title: textOf(title),
      description: textOf(description),
      arguments: objectsOf(item["arguments"]).flatMap((argument) =>
        typeof argument["name"] === "string"
          ? [
              {
                name: argument["name"],
                description: textOf(argument["description"]),
                isRequired: argument["required"] === true,
              },
            ]
          : [],
      ),
    };
  });
}

export async function readResource(
  { client, serverName }: ContentSource,
  uri: string,
  options?: RequestOptions,
): Promise<readonly ResourceContents[]> {
  const { contents } = await client.request("resources/read", { uri }, options);
  if (!Array.isArray(contents)) throw malformed(serverName, "resources/read");
  return objectsOf(contents).map((item) => ({
    uri: textOf(item["uri"]) ?? uri,
    mimeType: textOf(item["mimeType"]),
    ...(typeof item["text"] === "string" ? { text: item["text"] } : {}),
    ...(typeof item["blob"] === "string" ? { blob: item["blob"] } : {}),
  }));
}

export async function getPrompt(
  { client, serverName }: ContentSource,
  prompt: { readonly name: string; readonly arguments: Readonly<Record<string, string>> },
  options?: RequestOptions,
): Promise<PromptText> {
  const result = await client.request("prompts/get", { ...prompt }, options);
  if (!Array.isArray(result["messages"])) throw malformed(serverName, "prompts/get");
  const messages = objectsOf(result["messages"]).map(({ role, content }) => {
    if ((role !== "user" && role !== "assistant") || !isJsonObject(content))
      throw malformed(serverName, "prompts/get");
    return { role, content } as const;
  });
  return { description: textOf(result["description"]), messages };
}

export async function complete(
  { client, serverName }: ContentSource,
  { of, argument, value, known }: CompletionQuestion,
  options?: RequestOptions,
): Promise<Completion> {
  const ref =
    "prompt" in of
      ? { type: "ref/prompt", name: of.prompt }
      : { type: "ref/resource", uri: of.uriTemplate };
  const params = {
    ref,
    argument: { name: argument, value },
    ...(known === undefined ? {} : { context: { arguments: known } }),
  };
  const { completion } = await client.request("completion/complete", params, options);
  if (!isJsonObject(completion) || !Array.isArray(completion["values"]))
    throw malformed(serverName, "completion/complete");
  const { total, hasMore } = completion;
  return {
    values: completion["values"].filter((item): item is string => typeof item === "string"),
    total: typeof total === "number" ? total : undefined,
    hasMore: hasMore === true,
  };
}

const listMethods = {
  resources: "resources/list",
  resourceTemplates: "resources/templates/list",
  prompts: "prompts/list",
} as const;

/** Empty, and nothing asked, when the server never said that it has such things. */
async function list<Item>(
  { client, limits, clock, serverName }: ContentSource,
  key: keyof typeof listMethods,
  options: RequestOptions,
  read: (item: JsonObject) => Item | undefined,
): Promise<readonly Item[]> {
  const capability = key === "prompts" ? "prompts" : "resources";
  if (client.capabilities[capability] === undefined) return [];
  const pages = collectPages<Item, never>(
    {
      request: (params, pageOptions) => client.request(listMethods[key], params, pageOptions),
      read: (page) => {
        if (!Array.isArray(page[key])) throw malformed(serverName, listMethods[key]);
        return { items: objectsOf(page[key]).flatMap((item) => read(item) ?? []), rejected: [] };
      },
      limits,
      clock,
    },
    options,
  );
  try {
    return (await pages).items;
  } catch (error) {
    // Many servers declare resources and know nothing of templates, or the other way round.
    if (rpcCodeOf(error) === methodNotFound) return [];
    throw error;
  }
}

function described(
  { name, title, description, mimeType }: JsonObject,
  serverName: string,
  locator: string,
): Omit<McpResource, "uri" | "size"> {
  return {
    serverName,
    name: textOf(name) ?? locator,
    title: textOf(title),
    description: textOf(description),
    mimeType: textOf(mimeType),
  };
}

function objectsOf(items: unknown): readonly JsonObject[] {
  return Array.isArray(items) ? items.filter((item) => isJsonObject(item)) : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function malformed(serverName: string, method: string) {
  return createError("invalid_result", `the answer to ${method} does not have the right form`, {
    serverName,
    details: { method },
  });
}
