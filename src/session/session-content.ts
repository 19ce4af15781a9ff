import {
  type Completion,
  type CompletionQuestion,
  type ContentSource,
  type McpPrompt,
  type McpResource,
  type McpResourceTemplate,
  type PromptText,
  type ResourceContents,
  complete,
  getPrompt,
  listPrompts,
  listResources,
  listResourceTemplates,
  readResource,
} from "../catalog/server-content.ts";
import type { Limits } from "../config/limits.ts";
import { definitionOf } from "../config/server-config.ts";
import { errorOfDenial } from "../policy/decide-access.ts";
import type { Clock } from "../ports/clock.ts";
import type { RequestOptions } from "../protocol/protocol-client.ts";
import type { RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";
import type { QuestionOwner } from "../requests/question-owner.ts";
import type { ContentRight, ToolJudge } from "./tool-judge.ts";
import { visibleServer } from "./visible-server.ts";

export interface ContentOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface ContentListOptions extends ContentOptions {
  /** Only this server; every one the agent may use by default. */
  readonly server?: string | undefined;
}

/**
 * Resources and prompts as one agent may use them. They pass the chain of tools without its filter and
 * its pins: for a set of capabilities resources are the tool `read_resource`, prompts the tool
 * `get_prompt`. They start the server when needed, and throw typed errors.
 */
export interface SessionContent {
  /** Of all servers: one that may not be used, or fails, is left out. Of one server: its failure is thrown. */
  resources(options?: ContentListOptions): Promise<readonly McpResource[]>;
  resourceTemplates(options?: ContentListOptions): Promise<readonly McpResourceTemplate[]>;
  prompts(options?: ContentListOptions): Promise<readonly McpPrompt[]>;
  readResource(
    server: string,
    uri: string,
    options?: ContentOptions,
  ): Promise<readonly ResourceContents[]>;
  /**
   * Calls `onUpdate` when the server says that the resource changed, as long as the agent may read it;
   * resolves to what ends that.
   */
  watchResource(
    server: string,
    uri: string,
    onUpdate: () => void,
    options?: ContentOptions,
  ): Promise<() => Promise<void>>;
  prompt(
    server: string,
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: ContentOptions,
  ): Promise<PromptText>;
  complete(
    server: string,
    question: CompletionQuestion,
    options?: ContentOptions,
  ): Promise<Completion>;
}

export interface AgentContentParts {
  readonly caller: QuestionOwner["caller"];
  readonly judge: ToolJudge;
  readonly registry: ServerRegistry;
  readonly limits: Limits;
  readonly clock: Clock;
}

export class AgentContent implements SessionContent {
  readonly #parts: AgentContentParts;

  constructor(parts: AgentContentParts) {
    this.#parts = parts;
  }

  resources(options?: ContentListOptions): Promise<readonly McpResource[]> {
    return this.#list(listResources, "read_resource", options);
  }

  resourceTemplates(options?: ContentListOptions): Promise<readonly McpResourceTemplate[]> {
    return this.#list(listResourceTemplates, "read_resource", options);
  }

  prompts(options?: ContentListOptions): Promise<readonly McpPrompt[]> {
    return this.#list(listPrompts, "get_prompt", options);
  }

  async readResource(
    serverName: string,
    uri: string,
    options: ContentOptions = {},
  ): Promise<readonly ResourceContents[]> {
    const server = this.#usable(serverName, "read_resource");
    return await readResource(await this.#open(server, options), uri, this.#owned(server, options));
  }

  async watchResource(
    serverName: string,
    uri: string,
    onUpdate: () => void,
    options: ContentOptions = {},
  ): Promise<() => Promise<void>> {
    const server = this.#usable(serverName, "read_resource");
    const { client } = await this.#open(server, options);
    const { judge } = this.#parts;
    return await client.watchResource(uri, () => {
      if (judge.contentDenial(server, "read_resource") === undefined) onUpdate();
    });
  }

  async prompt(
    serverName: string,
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: ContentOptions = {},
  ): Promise<PromptText> {
    const server = this.#usable(serverName, "get_prompt");
    const source = await this.#open(server, options);
    return await getPrompt(source, { name, arguments: args }, this.#owned(server, options));
  }

  async complete(
    serverName: string,
    question: CompletionQuestion,
    options: ContentOptions = {},
  ): Promise<Completion> {
    // What may be filled in is a part of what it is filled into.
    const right = "prompt" in question.of ? "get_prompt" : "read_resource";
    const server = this.#usable(serverName, right);
    const source = await this.#open(server, options);
    return await complete(source, question, this.#owned(server, options));
  }

  async #list<Item>(
    list: (source: ContentSource, options: RequestOptions) => Promise<readonly Item[]>,
    right: ContentRight,
    { server: serverName, ...options }: ContentListOptions = {},
  ): Promise<readonly Item[]> {
    const { registry, judge } = this.#parts;
    const listOf = async (server: RegisteredServer): Promise<readonly Item[]> =>
      await list(await this.#open(server, options), this.#owned(server, options));
    if (serverName !== undefined) return await listOf(this.#usable(serverName, right));
    const usable = registry.all().filter((it) => judge.contentDenial(it, right) === undefined);
    const lists = await Promise.allSettled(usable.map(listOf));
    return lists.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  }

  /** Questions of the server about the request go to this session. */
  #owned(server: RegisteredServer, options: ContentOptions): RequestOptions {
    const owner: QuestionOwner = {
      callId: undefined,
      caller: this.#parts.caller,
      target: { tool: undefined, server },
    };
    return { ...options, owner };
  }

  #usable(name: string, right: ContentRight): RegisteredServer {
    const { judge } = this.#parts;
    const server = visibleServer(name, this.#parts);
    const denial = judge.contentDenial(server, right);
    if (denial !== undefined)
      throw errorOfDenial(denial, name, definitionOf(server.config.provenance));
    return server;
  }

  async #open(
    { config, users, connection }: RegisteredServer,
    { signal }: ContentOptions,
  ): Promise<ContentSource> {
    const { caller, limits, clock } = this.#parts;
    const client = await (users.connectionOf(caller.agent) ?? connection).client({ signal });
    return { serverName: config.name, client, limits, clock };
  }
}
