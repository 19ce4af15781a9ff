import {
  Client,
  ProtocolError,
  type JSONRPCMessage,
  type RequestOptions,
  SdkError,
  SdkErrorCode,
  type Transport,
  type TransportSendOptions,
  type VersionNegotiationOptions,
} from "@modelcontextprotocol/client";
import * as z from "zod";

import { McpError } from "../../src/errors/mcp-error.ts";
import { modernVersion } from "../../src/protocol/wire/protocol-versions.ts";
import { streamOf } from "../fixtures/protocol/stream-of.ts";
import { coreFailure } from "./core-subject.ts";
import type { Failure } from "./observation.ts";
import {
  clientInfo,
  type Connected,
  type ConnectContext,
  connectTimeoutMs,
  inputAnswers,
  pick,
  plainToolResult,
  type RequestOperation,
  type RunOptions,
  type Subject,
  toolMembers,
} from "./subject.ts";
import type { TappedTransport } from "./tapped-transport.ts";
import type { Transcript } from "./transcript.ts";

/** The official client as its documentation shows it, on our transport. */
export const sdkSubject: Subject = {
  async connect({ transcript, transport, onNotification, onClose }: ConnectContext) {
    const { offersInput = false } = transcript;
    const client = new Client(clientInfo, {
      versionNegotiation: negotiationOf(transcript),
      capabilities: offersInput ? { elicitation: { form: {} }, sampling: {}, roots: {} } : {},
    });
    if (offersInput) answerInput(client);
    client.fallbackNotificationHandler = async ({ method, params }) =>
      onNotification({ method, ...(params !== undefined && { params }) });
    client.onclose = onClose;
    await client.connect(new SdkPort(transport), { timeout: connectTimeoutMs });
    return new SdkConnected(client);
  },
  failureOf: sdkFailure,
};

/** Our transport behind the interface of the SDK, whose signals end the streams of requests. */
class SdkPort implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  readonly #transport: TappedTransport;

  constructor(transport: TappedTransport) {
    this.#transport = transport;
    transport.onmessage = (message) => this.onmessage?.(message);
    transport.onclose = () => this.onclose?.();
    transport.onerror = (error) => this.onerror?.(error);
  }

  get hasPerRequestStream(): boolean {
    return this.#transport.hasPerRequestStream;
  }

  start(): Promise<void> {
    return this.#transport.start();
  }

  send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    const { requestSignal, headers } = options;
    const stream = requestSignal && streamOf(requestSignal);
    return this.#transport.send(message, { stream, headers });
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  setProtocolVersion(version: string): void {
    this.#transport.setProtocolVersion(version);
  }
}

function answerInput(client: Client): void {
  const { roots } = inputAnswers["roots/list"];
  client.setRequestHandler("elicitation/create", () => inputAnswers["elicitation/create"]);
  client.setRequestHandler("sampling/createMessage", () => inputAnswers["sampling/createMessage"]);
  client.setRequestHandler("roots/list", () => ({ roots: [...roots] }));
}

function negotiationOf({ era, negotiation }: Transcript): VersionNegotiationOptions {
  if (negotiation === "auto") return { mode: "auto" };
  return { mode: era === "modern" ? { pin: modernVersion } : "legacy" };
}

const anyResult = z.looseObject({});

class SdkConnected implements Connected {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  get server() {
    const client = this.#client;
    return {
      era: client.getProtocolEra(),
      protocolVersion: client.getNegotiatedProtocolVersion(),
      serverInfo: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    };
  }

  async run(operation: RequestOperation, given: RunOptions): Promise<unknown> {
    const { signal, timeoutMs, onProgress } = given;
    const options = {
      signal,
      timeout: timeoutMs,
      resetTimeoutOnProgress: true,
      ...(onProgress === undefined ? {} : { onprogress: onReport(onProgress) }),
    };
    switch (operation.do) {
      case "listTools": {
        const { tools } = await this.#client.listTools(undefined, options);
        return { tools: tools.map((tool) => pick(tool, toolMembers)) };
      }
      case "callTool": {
        const params = { name: operation.name, arguments: { ...operation.args } };
        return plainToolResult(await this.#client.callTool(params, options));
      }
      case "request": {
        const { method, params = {} } = operation;
        return await this.#client.request({ method, params }, anyResult, options);
      }
      case "ping":
        // The modern era has no ping; asking for the server's description takes its place.
        if (this.#client.getProtocolEra() === "modern") await this.#client.discover(options);
        else await this.#client.ping(options);
        return {};
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

type ReportHandler = NonNullable<RequestOptions["onprogress"]>;

function onReport(onProgress: NonNullable<RunOptions["onProgress"]>): ReportHandler {
  return ({ progress, total, message }) =>
    onProgress({
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    });
}

const failureKinds: ReadonlyMap<SdkErrorCode, "timeout" | "closed" | "refused"> = new Map([
  [SdkErrorCode.RequestTimeout, "timeout"],
  [SdkErrorCode.ConnectionClosed, "closed"],
  [SdkErrorCode.NotConnected, "closed"],
  [SdkErrorCode.CapabilityNotSupported, "refused"],
  [SdkErrorCode.MethodNotSupportedByProtocolVersion, "refused"],
]);

function sdkFailure(error: unknown, isOpen: boolean): Failure {
  if (McpError.is(error)) return coreFailure(error);
  if (error instanceof ProtocolError) {
    const { code, message, data } = error;
    return { kind: "rpc", code, message, ...(data !== undefined && { data }) };
  }
  if (!(error instanceof SdkError)) return { kind: isOpen ? "invalid" : "closed" };
  return { kind: failureKinds.get(error.code) ?? "invalid" };
}
