import type { ConsentCall, ToolArguments } from "../call/call-path.ts";
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
import { createError } from "../errors/families.ts";
import { errorOfDenial } from "../policy/decide-access.ts";
import type { ConsentRule } from "../policy/decide-consent.ts";
import type { Clock } from "../ports/clock.ts";
import type { RequestOptions } from "../protocol/protocol-client.ts";
import type { RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";
import type { QuestionOwner } from "../requests/question-owner.ts";
import { parseFrozen } from "../schema/frozen-json.ts";
import type { ConsentDesk } from "./consent-desk.ts";
import { contentTool } from "./content-tool.ts";
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
 * `get_prompt`. To list them needs no consent, like a list of tools; to use them does, and is written
 * down. They start the server when needed, and throw typed errors.
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

/** One use of what a server offers beside tools, for the record. */
export interface ContentUse {
  readonly at: number;
  readonly agent: string;
  readonly serverName: string;
  readonly action: ContentAction;
  readonly callId: string;
  /** JSON of what was asked for, as it was sent. */
  readonly argumentsText: string;
  /** Undefined where it did not come to that. */
  readonly consent: ConsentRule | undefined;
  readonly durationMs: number;
  /** Why it came to nothing. */
  readonly error: unknown;
}

export type ContentAction = "read_resource" | "watch_resource" | "get_prompt" | "complete";

export interface AgentContentParts {
  readonly caller: QuestionOwner["caller"];
  readonly judge: ToolJudge;
  readonly consent: Pick<ConsentDesk, "ask">;
  readonly registry: ServerRegistry;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly createId: () => string;
  /** Writes down what became of it. Must not throw. */
  readonly audit: { readonly recordContent: (use: ContentUse) => void };
}

/** What is to be used, as it is asked about and written down. */
interface Wish<Params> {
  readonly serverName: string;
  readonly right: ContentRight;
  readonly action: ContentAction;
  readonly params: Params;
  readonly options: ContentOptions;
}

interface Opened<Params> {
  readonly server: RegisteredServer;
  readonly source: ContentSource;
  /** As they were asked about, whatever became of the caller's. */
  readonly params: Params;
  readonly request: RequestOptions;
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

  readResource(
    serverName: string,
    uri: string,
    options: ContentOptions = {},
  ): Promise<readonly ResourceContents[]> {
    const right = "read_resource";
    return this.#use(
      { serverName, right, action: right, params: { uri }, options },
      ({ source, params, request }) => readResource(source, params.uri, request),
    );
  }

  watchResource(
    serverName: string,
    uri: string,
    onUpdate: () => void,
    options: ContentOptions = {},
  ): Promise<() => Promise<void>> {
    const { judge, caller } = this.#parts;
    const right = "read_resource";
    return this.#use(
      { serverName, right, action: "watch_resource", params: { uri }, options },
      ({ server, source, params }) => {
        const epoch = server.users.consentEpoch(caller.agent);
        return source.client.watchResource(params.uri, () => {
          const isAllowed = server.users.consentEpoch(caller.agent) === epoch;
          if (isAllowed && judge.contentDenial(server, right) === undefined) onUpdate();
        });
      },
    );
  }

  prompt(
    serverName: string,
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: ContentOptions = {},
  ): Promise<PromptText> {
    const right = "get_prompt";
    return this.#use(
      { serverName, right, action: right, params: { name, arguments: args }, options },
      ({ source, params, request }) => getPrompt(source, params, request),
    );
  }

  async complete(
    serverName: string,
    question: CompletionQuestion,
    options: ContentOptions = {},
  ): Promise<Completion> {
    // What may be filled in is a part of what it is filled into.
    const right = "prompt" in question.of ? "get_prompt" : "read_resource";
    return await this.#use(
      { serverName, right, action: "complete", params: question, options },
      ({ source, params, request }) => complete(source, params, request),
    );
  }

  /** The way of everything but lists: rights, consent, the server, the record. */
  async #use<Params extends object, Result>(
    wish: Wish<Params>,
    run: (opened: Opened<Params>) => Promise<Result>,
  ): Promise<Result> {
    const { clock, createId } = this.#parts;
    const { serverName, right, options } = wish;
    const startedAt = clock.monotonic();
    const callId = createId();
    const argumentsText = jsonOf(wish.params);
    let consent: ConsentRule | undefined;
    const record = (error?: unknown): void =>
      this.#record(wish, { callId, argumentsText, consent, startedAt, error });
    try {
      const params = parseFrozen(argumentsText) as Params;
      const { signal } = options;
      const args = params as ToolArguments;
      const allowed = await this.#allowed(wish, args, { callId, argumentsText, signal });
      ({ consent } = allowed);
      const { server } = allowed;
      const source = await this.#open(server, options);
      // A right may have ended while the server was being started.
      this.#usable(serverName, right);
      const result = await run({ server, source, params, request: this.#owned(server, options) });
      record();
      return result;
    } catch (error) {
      record(error);
      throw error;
    }
  }

  /** Asks where somebody has to be asked; throws unless it may be used. */
  async #allowed(
    wish: Pick<Wish<object>, "serverName" | "right">,
    args: ToolArguments,
    call: ConsentCall,
  ): Promise<{ readonly server: RegisteredServer; readonly consent: ConsentRule }> {
    const { judge, consent: desk } = this.#parts;
    const { serverName, right } = wish;
    const tool = contentTool(serverName, right);
    const server = this.#usable(serverName, right);
    const { consent } = judge.judge(tool);
    if (consent !== "ask") return { server, consent };
    const isStillMeant = await desk.ask({ tool }, args, call);
    if (isStillMeant && this.#usable(serverName, right) === server) return { server, consent };
    return await this.#allowed(wish, args, call);
  }

  #record(
    { serverName, action }: Wish<object>,
    use: Pick<ContentUse, "callId" | "argumentsText" | "consent" | "error"> & {
      readonly startedAt: number;
    },
  ): void {
    const { audit, caller, clock } = this.#parts;
    const { startedAt, ...rest } = use;
    audit.recordContent({
      ...rest,
      at: clock.now(),
      agent: caller.agent,
      serverName,
      action,
      durationMs: clock.monotonic() - startedAt,
    });
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

function jsonOf(params: object): string {
  try {
    return JSON.stringify(params);
  } catch (cause) {
    throw createError("invalid_arguments", "what is asked for cannot be written as JSON", {
      cause,
    });
  }
}
