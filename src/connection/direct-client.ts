import type { Limits } from "../config/keys/limits.ts";
import {
  callback,
  flag,
  guardMethods,
  number,
  object,
  optional,
  options,
  signal,
  text,
} from "../errors/check-arguments.ts";
import { systemClock } from "../ports/clock.ts";
import { keepAliveUntil, keepAliveWhileAwaited } from "../ports/keep-alive.ts";
import { closeAtProgramEnd } from "../ports/program-end.ts";
import { collectPages } from "../protocol/client/collect-pages.ts";
import { resultText } from "../protocol/client/result-text.ts";
import type {
  ContentBlock,
  ListedTool,
  ProtocolClient,
  RawToolResult,
  RequestOptions,
  ServerIdentity,
  ServerNotification,
} from "../protocol/protocol-client.ts";
import type { InputHandlers } from "../protocol/wire/input-handlers.ts";
import type { RequestOwner } from "../protocol/wire/request-owner.ts";
import type { JsonObject } from "../text/json-object.ts";
import { type DirectOptions, type DirectServer, openDirectly } from "./open-directly.ts";

export interface McpServerInfo extends ServerIdentity {
  readonly capabilities: Readonly<Record<string, unknown>>;
}

/** A tool's result as the server sent it. */
export interface McpToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent: unknown;
  readonly isError: boolean;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  /** The readable form: text parts joined by line breaks, placeholders for the rest. */
  toText(): string;
}

/**
 * One server without a host: no names, no policy, no validation, no events. It throws typed errors.
 * For agents use `createHost`; this is for programs that trust the server they start.
 */
export interface McpClient extends AsyncDisposable {
  readonly serverInfo: McpServerInfo;
  /** The list of the last `listTools()`; empty before. */
  readonly tools: readonly ListedTool[];
  readonly isInitialized: boolean;
  readonly isConnected: boolean;
  listTools(options?: RequestOptions): Promise<readonly ListedTool[]>;
  callTool(name: string, args?: JsonObject, options?: RequestOptions): Promise<McpToolResult>;
  listResources(options?: RequestOptions): Promise<readonly JsonObject[]>;
  readResource(uri: string, options?: RequestOptions): Promise<JsonObject>;
  listPrompts(options?: RequestOptions): Promise<readonly JsonObject[]>;
  getPrompt(
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: RequestOptions,
  ): Promise<JsonObject>;
  ping(options?: RequestOptions): Promise<void>;
  close(): Promise<void>;
}

/** Answers what the server asks, and learns what it reports. */
export interface DirectInput {
  /** Called for a connection that is about to open. */
  readonly handlers: () => InputHandlers;
  /** Called for each request: gives its owner, and the function to call when the request is over. */
  readonly begin: (toolName: string | undefined) => {
    readonly owner: RequestOwner;
    readonly end: () => void;
  };
  readonly heard: (notification: ServerNotification) => void;
}

/** Without `input` the server is told that it cannot ask for anything. */
export async function connectDirectly(
  server: DirectServer,
  options: DirectOptions = {},
  input?: DirectInput,
): Promise<McpClient> {
  const opening = openDirectly(server, options, { inputHandlers: input?.handlers });
  const { client, limits } = await keepAliveUntil(opening);
  return new DirectClient(client, limits, input);
}

class DirectClient implements McpClient {
  readonly #client: ProtocolClient;
  readonly #limits: Limits;
  readonly #input: DirectInput | undefined;
  #tools: readonly ListedTool[] = [];
  #isOpen = true;

  constructor(client: ProtocolClient, limits: Limits, input: DirectInput | undefined) {
    this.#client = client;
    this.#limits = limits;
    this.#input = input;
    const closed = closeAtProgramEnd(() => this.close());
    client.onclose = () => {
      this.#isOpen = false;
      closed();
    };
    if (input !== undefined) client.onnotification = input.heard;
  }

  get serverInfo(): McpServerInfo {
    return { ...this.#client.serverInfo, capabilities: this.#client.capabilities };
  }

  get tools(): readonly ListedTool[] {
    return this.#tools;
  }

  get isInitialized(): boolean {
    return this.#isOpen;
  }

  get isConnected(): boolean {
    return this.#isOpen;
  }

  async listTools(options?: RequestOptions): Promise<readonly ListedTool[]> {
    const { tools } = await this.#client.listTools(options);
    this.#tools = tools;
    return tools;
  }

  async callTool(
    name: string,
    args: JsonObject = {},
    options?: RequestOptions,
  ): Promise<McpToolResult> {
    const call = (owned?: RequestOptions) => this.#client.callTool(name, args, owned);
    return toolResult(await this.#owned(call, options, name));
  }

  listResources(options?: RequestOptions): Promise<readonly JsonObject[]> {
    return this.#list("resources/list", "resources", options);
  }

  readResource(uri: string, options?: RequestOptions): Promise<JsonObject> {
    return this.#owned((owned) => this.#client.request("resources/read", { uri }, owned), options);
  }

  listPrompts(options?: RequestOptions): Promise<readonly JsonObject[]> {
    return this.#list("prompts/list", "prompts", options);
  }

  getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options?: RequestOptions,
  ): Promise<JsonObject> {
    const params = { name, arguments: args };
    return this.#owned((owned) => this.#client.request("prompts/get", params, owned), options);
  }

  ping(options?: RequestOptions): Promise<void> {
    return this.#client.ping(options);
  }

  close(): Promise<void> {
    this.#isOpen = false;
    return this.#client.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Replaces whatever a caller without types may have put in the place of the owner. */
  #owned<T>(
    send: (options: RequestOptions | undefined) => Promise<T>,
    options: RequestOptions | undefined,
    toolName?: string,
  ): Promise<T> {
    if (this.#input === undefined) return send(options);
    const { owner, end } = this.#input.begin(toolName);
    return send({ ...options, owner }).finally(end);
  }

  async #list(
    method: string,
    key: string,
    options?: RequestOptions,
  ): Promise<readonly JsonObject[]> {
    const { items } = await collectPages(
      {
        request: (params, pageOptions) => this.#client.request(method, params, pageOptions),
        read: (page) => ({ items: objectsOf(page[key]), rejected: [] }),
        limits: this.#limits,
        clock: systemClock,
      },
      options,
    );
    return items;
  }
}

const requestOptions = options({ signal, timeoutMs: number, onProgress: callback, fresh: flag });
const listing = { takes: { options: requestOptions }, fails: "rejects" } as const;

guardMethods(DirectClient.prototype, "client", {
  listTools: listing,
  callTool: {
    takes: { name: text, args: optional(object), options: requestOptions },
    fails: "rejects",
  },
  listResources: listing,
  readResource: { takes: { uri: text, options: requestOptions }, fails: "rejects" },
  listPrompts: listing,
  getPrompt: {
    takes: { name: text, args: optional(object), options: requestOptions },
    fails: "rejects",
  },
  ping: listing,
});

keepAliveWhileAwaited<McpClient>(DirectClient.prototype, {
  listTools: true,
  callTool: true,
  listResources: true,
  readResource: true,
  listPrompts: true,
  getPrompt: true,
  ping: true,
  close: true,
});

function objectsOf(list: unknown): readonly JsonObject[] {
  if (!Array.isArray(list)) return [];
  return list.filter((item): item is JsonObject => typeof item === "object" && item !== null);
}

function toolResult({ content, structuredContent, isError, _meta }: RawToolResult): McpToolResult {
  return {
    content,
    structuredContent,
    isError,
    meta: _meta,
    toText: () => resultText(content, structuredContent),
  };
}
