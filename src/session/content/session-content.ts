import type { ConsentCall, ToolArguments } from "../../call/call-contract.ts";
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
} from "../../catalog/server-content.ts";
import type { Limits } from "../../config/keys/limits.ts";
import { definitionOf } from "../../config/keys/server-config.ts";
import type { ServerConnection } from "../../connection/server-connection.ts";
import { createError } from "../../errors/families.ts";
import { errorOfDenial } from "../../policy/decide-access.ts";
import type { ConsentRule } from "../../policy/decide-consent.ts";
import type { Clock } from "../../ports/clock.ts";
import type { RequestOptions } from "../../protocol/protocol-client.ts";
import { endRequest, type RequestOwner } from "../../protocol/wire/request-owner.ts";
import type { RegisteredServer } from "../../registry/server-registry.ts";
import { parseFrozen } from "../../schema/validate/plain-json.ts";
import type { CallConsent } from "../rights/call-consent.ts";
import type { ContentRight, ToolJudge } from "../rights/tool-judge.ts";
import { contentList, type ContentList, listOfEach, type ServerList } from "./content-lists.ts";
import { contentTool } from "./content-tool.ts";

export interface ContentOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface ContentListOptions<Item> extends ContentOptions {
  /** Only this server; every one the agent may use by default. */
  readonly server?: string | undefined;
  /** Of each server by itself. Without `server` its start counts, too. */
  readonly timeoutMs?: number | undefined;
  /** Called with the list of each server as soon as it is there, or is known to be missing. */
  readonly onList?: ((list: ServerList<Item>) => void) | undefined;
}

/**
 * Resources and prompts as one agent may use them. They pass the chain of tools without its filter and
 * its pins: for a set of capabilities resources are the tool `read_resource`, prompts the tool
 * `get_prompt`. To list them needs no consent, like a list of tools; to use them does, and is written
 * down. They start the server when needed, and throw typed errors.
 */
export interface SessionContent {
  /**
   * Of all servers: one that may not be used, fails, or takes longer than `limits.contentListTimeoutMs` is
   * named in `missing` and holds up no other. Of one server: its failure is thrown.
   */
  resources(options?: ContentListOptions<McpResource>): Promise<ContentList<McpResource>>;
  resourceTemplates(
    options?: ContentListOptions<McpResourceTemplate>,
  ): Promise<ContentList<McpResourceTemplate>>;
  prompts(options?: ContentListOptions<McpPrompt>): Promise<ContentList<McpPrompt>>;
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
  readonly caller: RequestOwner["caller"];
  readonly judge: ToolJudge;
  readonly consent: Pick<CallConsent, "ask">;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly createId: () => string;
  readonly audit: {
    /** Resolves when the use may begin; rejects when it could not be recorded. */
    readonly admit: (() => Promise<void> | undefined) | undefined;
    /** Writes down what became of it. Must not throw. Undefined where nothing is kept. */
    readonly recordContent: ((use: ContentUse) => void) | undefined;
  };
}

/** A wish to use a resource or prompt, as it is asked about and recorded. */
interface Wish<Params> {
  readonly serverName: string;
  readonly right: ContentRight;
  readonly action: ContentAction;
  readonly params: Params;
  readonly options: ContentOptions;
}

interface ListKind<Item> {
  /** What is listed, in the plural. */
  readonly what: string;
  readonly right: ContentRight;
  readonly list: (source: ContentSource, options: RequestOptions) => Promise<readonly Item[]>;
}

interface Opened<Params> {
  readonly server: RegisteredServer;
  readonly source: ContentSource;
  /** A frozen copy of the params that the person was asked about. */
  readonly params: Params;
  readonly request: RequestOptions;
}

export class AgentContent implements SessionContent {
  readonly #parts: AgentContentParts;

  constructor(parts: AgentContentParts) {
    this.#parts = parts;
  }

  resources(options?: ContentListOptions<McpResource>): Promise<ContentList<McpResource>> {
    return this.#list({ what: "resources", right: "read_resource", list: listResources }, options);
  }

  resourceTemplates(
    options?: ContentListOptions<McpResourceTemplate>,
  ): Promise<ContentList<McpResourceTemplate>> {
    const what = "resource templates";
    return this.#list({ what, right: "read_resource", list: listResourceTemplates }, options);
  }

  prompts(options?: ContentListOptions<McpPrompt>): Promise<ContentList<McpPrompt>> {
    return this.#list({ what: "prompts", right: "get_prompt", list: listPrompts }, options);
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
        const epoch = server.consent.epoch(caller.agent);
        return source.client.watchResource(params.uri, () => {
          const isAllowed = server.consent.epoch(caller.agent) === epoch;
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
    // Completing an argument needs the right to the prompt or resource that it belongs to.
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
      await this.#parts.audit.admit?.();
      const allowed = await this.#allowed(wish, args, { callId, argumentsText, signal });
      ({ consent } = allowed);
      const { server } = allowed;
      const source = await this.#open(server, options);
      // A right may have ended while the server was being started.
      this.#usable(serverName, right);
      const result = await this.#owned(server, options, (request) =>
        run({ server, source, params, request }),
      );
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
    const { judge, consent: callConsent } = this.#parts;
    const { serverName, right } = wish;
    const tool = contentTool(serverName, right);
    const server = this.#usable(serverName, right);
    const { consent } = judge.judge(tool);
    if (consent !== "ask") return { server, consent };
    const isStillMeant = await callConsent.ask({ tool }, args, call);
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
    audit.recordContent?.({
      ...rest,
      at: clock.now(),
      agent: caller.agent,
      serverName,
      action,
      durationMs: clock.monotonic() - startedAt,
    });
  }

  async #list<Item>(
    { what, right, list }: ListKind<Item>,
    { server: serverName, onList, ...options }: ContentListOptions<Item> = {},
  ): Promise<ContentList<Item>> {
    const { judge, limits, clock } = this.#parts;
    const listOf = async (name: string, within: ContentOptions): Promise<readonly Item[]> => {
      const server = this.#usable(name, right);
      const source = await this.#open(server, within);
      return await this.#owned(server, within, (request) => list(source, request));
    };
    if (serverName !== undefined) {
      const items = await listOf(serverName, options);
      onList?.({ serverName, items, error: undefined });
      return contentList([{ serverName, items, error: undefined }]);
    }
    return await listOfEach(judge.visibleServers(), {
      what,
      clock,
      limitMs: options.timeoutMs ?? limits.contentListTimeoutMs,
      signal: options.signal,
      connectionOf: (server) => this.#connection(server),
      list: ({ config }, signal) => listOf(config.name, { ...options, signal }),
      onList,
    });
  }

  /** Sends questions of the server about the request to this session, for as long as the request lasts. */
  async #owned<Result>(
    server: RegisteredServer,
    options: ContentOptions,
    send: (request: RequestOptions) => Promise<Result>,
  ): Promise<Result> {
    const owner: RequestOwner = {
      callId: undefined,
      caller: this.#parts.caller,
      target: { tool: undefined, server },
      end: undefined,
    };
    try {
      return await send({ ...options, owner });
    } finally {
      endRequest(owner);
    }
  }

  #usable(name: string, right: ContentRight): RegisteredServer {
    const { judge } = this.#parts;
    const server = judge.visibleServer(name);
    const denial = judge.contentDenial(server, right);
    if (denial !== undefined)
      throw errorOfDenial(denial, name, definitionOf(server.config.provenance));
    return server;
  }

  async #open(server: RegisteredServer, { signal }: ContentOptions): Promise<ContentSource> {
    const { limits, clock } = this.#parts;
    const client = await this.#connection(server).client({ signal });
    return { serverName: server.config.name, client, limits, clock };
  }

  #connection({ connections, connection }: RegisteredServer): ServerConnection {
    return connections.connectionOf(this.#parts.caller.agent) ?? connection;
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
