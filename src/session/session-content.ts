import {
  type Completion,
  type CompletionTarget,
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
import type { ToolJudge } from "./tool-judge.ts";

export interface ContentOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface ContentListOptions extends ContentOptions {
  /** Only this server; every one the agent may use by default. */
  readonly server?: string | undefined;
}

export interface CompletionQuestion {
  readonly of: CompletionTarget;
  readonly argument: string;
  /** What has been typed so far. */
  readonly value: string;
  /** Arguments that have been filled in already. */
  readonly known?: Readonly<Record<string, string>> | undefined;
}

/**
 * Resources and prompts as one agent may use them. They pass the same chain as tools as far as the
 * server is concerned, start it when needed, and throw typed errors.
 */
export interface SessionContent {
  /** Of all servers: one that fails is left out. Of one server: its failure is thrown. */
  resources(options?: ContentListOptions): Promise<readonly McpResource[]>;
  resourceTemplates(options?: ContentListOptions): Promise<readonly McpResourceTemplate[]>;
  prompts(options?: ContentListOptions): Promise<readonly McpPrompt[]>;
  readResource(
    server: string,
    uri: string,
    options?: ContentOptions,
  ): Promise<readonly ResourceContents[]>;
  /** Calls `onUpdate` when the server says that the resource changed; resolves to what ends that. */
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
    return this.#list(listResources, options);
  }

  resourceTemplates(options?: ContentListOptions): Promise<readonly McpResourceTemplate[]> {
    return this.#list(listResourceTemplates, options);
  }

  prompts(options?: ContentListOptions): Promise<readonly McpPrompt[]> {
    return this.#list(listPrompts, options);
  }

  async readResource(
    server: string,
    uri: string,
    options: ContentOptions = {},
  ): Promise<readonly ResourceContents[]> {
    return await readResource(await this.#source(server, options), uri, this.#owned(options));
  }

  async watchResource(
    server: string,
    uri: string,
    onUpdate: () => void,
    options: ContentOptions = {},
  ): Promise<() => Promise<void>> {
    const { client } = await this.#source(server, options);
    return await client.watchResource(uri, onUpdate);
  }

  async prompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: ContentOptions = {},
  ): Promise<PromptText> {
    const source = await this.#source(server, options);
    return await getPrompt(source, { name, arguments: args }, this.#owned(options));
  }

  async complete(
    server: string,
    question: CompletionQuestion,
    options: ContentOptions = {},
  ): Promise<Completion> {
    return await complete(await this.#source(server, options), question, this.#owned(options));
  }

  async #list<Item>(
    list: (source: ContentSource, options: RequestOptions) => Promise<readonly Item[]>,
    { server, ...options }: ContentListOptions = {},
  ): Promise<readonly Item[]> {
    const owned = this.#owned(options);
    if (server !== undefined) return await list(await this.#source(server, options), owned);
    const { registry, judge } = this.#parts;
    const usable = registry.all().filter((it) => judge.serverDenial(it) === undefined);
    const lists = await Promise.allSettled(
      usable.map(async (it) => await list(await this.#open(it, options), owned)),
    );
    return lists.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  }

  /** Questions of the server about the request go to this session. */
  #owned(options: ContentOptions): RequestOptions {
    const owner: QuestionOwner = {
      callId: undefined,
      caller: this.#parts.caller,
      target: undefined,
    };
    return { ...options, owner };
  }

  async #source(name: string, options: ContentOptions): Promise<ContentSource> {
    const { registry, judge } = this.#parts;
    const server = registry.get(name);
    const denial = judge.serverDenial(server);
    if (denial !== undefined)
      throw errorOfDenial(denial, name, definitionOf(server.config.provenance));
    return await this.#open(server, options);
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
