import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { JsonObject } from "../../text/json-object.ts";
import { maskSecrets } from "../../text/secrets/mask-secrets.ts";
import { serverText } from "../../text/untrusted/bounded-text.ts";
import type { ReadResult } from "../channel/pending-requests.ts";
import type { RpcChannel } from "../channel/rpc-channel.ts";
import { runHandler } from "../channel/run-handler.ts";
import type { Negotiated } from "../era/negotiate-era.ts";
import type {
  ProtocolClient,
  ProtocolOptions,
  RawToolResult,
  RequestOptions,
  ServerIdentity,
  ServerNotification,
  ToolCallOptions,
  ToolListing,
} from "../protocol-client.ts";
import { type ListKind, reportedLists } from "../wire/list-kind.ts";
import type { ProtocolEra } from "../wire/protocol-versions.ts";
import { ChangeSubscription } from "./change-subscription.ts";
import { ListChanges } from "./list-changes.ts";
import { RequestPath, type RequestPathParts, type RequestSender } from "./request-path.ts";
import { ResourceSubscriptions } from "./resource-subscriptions.ts";
import { type CacheTicket, ResponseCache } from "./response-cache.ts";
import { ToolCalls } from "./tool-calls.ts";

/** Everything a protocol client does that does not depend on who writes the messages. */
export class NegotiatedClient implements ProtocolClient {
  onwarning: ((text: string) => void) | undefined;
  readonly #channel: RpcChannel;
  readonly #negotiated: Negotiated;
  readonly #sender: RequestSender;
  readonly #options: ProtocolOptions;
  readonly #path: RequestPath;
  readonly #tools: ToolCalls;
  readonly #listChanges: ListChanges;
  /** The legacy era says nothing about how long a result is good. */
  readonly #cache: ResponseCache | undefined;
  /** The legacy era reports changes without being asked. */
  readonly #subscription: ChangeSubscription | undefined;
  readonly #resources: ResourceSubscriptions;
  readonly #readResult: ReadResult<JsonObject>;
  #onlistchanged: ((kind: ListKind) => void) | undefined;
  #onclose: ((error: Error | undefined) => void) | undefined;
  #ended: { readonly error: McpError | undefined } | undefined;

  constructor(parts: RequestPathParts) {
    const { channel, negotiated, sender, options } = parts;
    const { capabilities, envelope } = negotiated;
    const { serverName, clock, limits, logger } = options;
    const isModern = envelope !== undefined;
    this.#channel = channel;
    this.#negotiated = withoutCredentials(negotiated, options.credentials);
    this.#sender = sender;
    this.#options = options;
    this.#path = new RequestPath(parts);
    this.#readResult = this.#path.reader(isModern ? withoutType : (result) => result);
    this.#tools = new ToolCalls(this.#path, {
      limits,
      clock,
      envelope,
      hasHeaders: isModern && channel.hasPerRequestStream,
      credentials: options.credentials,
      request: (method, params, requestOptions) => this.request(method, params, requestOptions),
    });
    this.#cache = isModern ? new ResponseCache({ clock, maxTtlMs: limits.maxTtlMs }) : undefined;
    this.#listChanges = new ListChanges(clock, (kind) =>
      runHandler(() => this.#onlistchanged?.(kind), logger, serverName),
    );
    const kinds = reportedLists(capabilities);
    const listen = isModern
      ? (notifications: JsonObject, onGap: () => void) =>
          new ChangeSubscription(channel, {
            serverName,
            clock,
            logger,
            envelope,
            notifications,
            onGap,
          })
      : undefined;
    this.#subscription = listen?.(
      Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true])),
      () => kinds.forEach((kind) => this.#listChanged(kind)),
    );
    this.#resources = new ResourceSubscriptions({
      request: (method, params) => this.request(method, params),
      openStream: listen && ((uri, onGap) => listen({ resourceSubscriptions: [uri] }, onGap)),
      tooMany: (limit) =>
        createError("denied", `no more than ${limit} resources can be watched`, { serverName }),
    });
    channel.serverMessages.onlistchange = (kind) => this.#listChanged(kind);
    channel.serverMessages.onresourcechange = (params) => {
      this.#cache?.resourceUpdated(params);
      runHandler(() => this.#resources.updated(params), logger, serverName);
    };
    channel.oninexact = ({ params }, literal) =>
      this.onwarning?.(
        inexactText(maskSecrets(params["name"], options.credentials ?? []), literal),
      );
    channel.onend = (error) => this.#end(error);
  }

  get era(): ProtocolEra {
    return this.#negotiated.era;
  }

  get provenEra(): ProtocolEra {
    return this.#negotiated.provenEra;
  }

  get protocolVersion(): string {
    return this.#negotiated.protocolVersion;
  }

  get serverInfo(): ServerIdentity {
    return this.#negotiated.serverInfo;
  }

  get capabilities(): JsonObject {
    return this.#negotiated.capabilities;
  }

  get instructions(): string | undefined {
    return this.#negotiated.instructions;
  }

  get isIdle(): boolean {
    return this.#channel.isIdle;
  }

  get onnotification(): ((notification: ServerNotification) => void) | undefined {
    return this.#channel.serverMessages.onnotification;
  }

  set onnotification(handler: ((notification: ServerNotification) => void) | undefined) {
    this.#channel.serverMessages.onnotification = handler;
  }

  get onlistchanged(): ((kind: ListKind) => void) | undefined {
    return this.#onlistchanged;
  }

  set onlistchanged(handler: ((kind: ListKind) => void) | undefined) {
    this.#onlistchanged = handler;
    if (handler !== undefined) this.#subscription?.start();
  }

  get onclose(): ((error: Error | undefined) => void) | undefined {
    return this.#onclose;
  }

  /** The connection may have ended before anyone could listen: then the handler hears of it right away. */
  set onclose(handler: ((error: Error | undefined) => void) | undefined) {
    this.#onclose = handler;
    queueMicrotask(() => this.#reportEnd());
  }

  request(
    method: string,
    params: JsonObject = {},
    options: RequestOptions = {},
  ): Promise<JsonObject> {
    const request = { method, params, options };
    const ticket = this.#cache?.ticket(method, params);
    if (ticket === undefined) return this.#path.send(request, this.#readResult);
    const kept = this.#kept(ticket, options);
    if (kept !== undefined) return Promise.resolve(kept);
    const readAndKeep = this.#path.reader((typed, { tookInput }) => {
      const result = withoutType(typed);
      if (tookInput !== true) this.#cache?.keep(ticket, result);
      return result;
    });
    return this.#path.send(request, readAndKeep);
  }

  callTool(name: string, args: JsonObject, options: ToolCallOptions = {}): Promise<RawToolResult> {
    return this.#tools.call(name, args, options);
  }

  async listTools(options?: RequestOptions): Promise<ToolListing> {
    if (this.#channel.end !== undefined) throw this.#channel.end;
    // Without the capability there is nothing to ask for, and nothing wrong either.
    if (this.#path.isMissing("tools/list")) return { tools: [], rejected: [] };
    return await this.#tools.list(options);
  }

  async notify(method: string, params: JsonObject = {}): Promise<void> {
    if (this.#channel.end !== undefined) throw this.#channel.end;
    await this.#sender.notify(method, params);
  }

  async ping(options?: RequestOptions): Promise<void> {
    await this.request(this.era === "modern" ? "server/discover" : "ping", {}, options);
  }

  watchResource(uri: string, onUpdate: () => void): Promise<() => Promise<void>> {
    return this.#resources.add(uri, onUpdate);
  }

  close(reason?: McpError): Promise<void> {
    return this.#channel.close(reason);
  }

  /** A closed connection answers nothing, and neither does one whose caller has given up. */
  #kept(ticket: CacheTicket, { fresh, signal }: RequestOptions): JsonObject | undefined {
    if (fresh === true || signal?.aborted === true || this.#channel.end !== undefined)
      return undefined;
    return this.#cache?.find(ticket);
  }

  #listChanged(kind: ListKind): void {
    this.#cache?.listChanged(kind);
    this.#listChanges.changed(kind);
  }

  #end(error: McpError | undefined): void {
    this.#path.end(error);
    this.#listChanges.stop();
    this.#subscription?.stop();
    this.#resources.end();
    this.#ended = { error };
    this.#reportEnd();
  }

  #reportEnd(): void {
    const handler = this.#onclose;
    const ended = this.#ended;
    if (handler === undefined || ended === undefined) return;
    this.#onclose = undefined;
    const { logger, serverName } = this.#options;
    runHandler(() => handler(ended.error), logger, serverName);
  }
}

/** The number itself is data of the call, so only its size is told. */
function inexactText(name: unknown, literal: string): string {
  const toolName = serverText(String(name), 128);
  return `the result of ${toolName} has a number of ${literal.length} characters that JavaScript cannot hold; it was rounded`;
}

/** Masks credentials in what a server says of itself, which is shown in its status. */
function withoutCredentials(
  negotiated: Negotiated,
  credentials: readonly string[] = [],
): Negotiated {
  const { serverInfo, instructions } = negotiated;
  return {
    ...negotiated,
    serverInfo: maskSecrets(serverInfo, credentials),
    instructions: maskSecrets(instructions, credentials),
  };
}

function withoutType(result: JsonObject): JsonObject {
  const { resultType: _, ...rest } = result;
  return rest;
}
