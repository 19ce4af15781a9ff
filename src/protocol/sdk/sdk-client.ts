import type * as sdkModule from "@modelcontextprotocol/client";
import type { Client, JsonSchemaValidator, StandardSchemaV1 } from "@modelcontextprotocol/client";

import { createError } from "../../errors/families.ts";
import { McpError } from "../../errors/mcp-error.ts";
import { type Clock, longestTimerMs } from "../../ports/clock.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { serverText } from "../../text/untrusted/bounded-text.ts";
import { type Exchange, invalidResult } from "../channel/channel-failures.ts";
import type { OutgoingRequest } from "../channel/pending-requests.ts";
import { RpcChannel } from "../channel/rpc-channel.ts";
import { NegotiatedClient } from "../client/negotiated-client.ts";
import type { RequestSender } from "../client/request-path.ts";
import { type Negotiated, negotiateEra } from "../era/negotiate-era.ts";
import type { ConnectProtocol, ProtocolOptions } from "../protocol-client.ts";
import { declaredCapabilities } from "../wire/input-handlers.ts";
import { modernVersion, supportedVersions } from "../wire/protocol-versions.ts";
import { aliasOf, type SdkAnswer, SdkTransport } from "./sdk-transport.ts";

type Sdk = typeof sdkModule;

/** The official SDK's `Client` behind `ProtocolClient`; it loads while the server is being asked. */
export const connectWithSdk: ConnectProtocol = async (transport, options) => {
  const channel = new RpcChannel(transport, options);
  try {
    const [sdk, negotiated] = await Promise.all([
      import("@modelcontextprotocol/client"),
      negotiateEra(channel, options),
    ]);
    const { serverName, logger } = options;
    const initializeResult = replayedHandshake(negotiated);
    const isModern = negotiated.era === "modern";
    const wire = new SdkTransport(channel, { serverName, logger, initializeResult, isModern });
    const client = createSdkClient(sdk, options);
    client.onerror = (error) =>
      logger.debug("the SDK reported an error", { error: serverText(String(error)) });
    await client.connect(wire, { prior: priorVerdict(negotiated) });
    if (channel.end !== undefined) throw channel.end;
    const failure = (error: unknown, method: string) =>
      asProtocolFailure(error, sdk, { serverName, method }, channel.end);
    const sender = createSdkSender({ client, wire, isModern, failure, clock: options.clock });
    return new NegotiatedClient({ channel, negotiated, sender, options });
  } catch (error) {
    await channel.close();
    throw error;
  }
};

function createSdkClient(sdk: Sdk, { clientInfo, inputHandlers = {} }: ProtocolOptions): Client {
  return new sdk.Client(clientInfo, {
    capabilities: declaredCapabilities(inputHandlers),
    supportedProtocolVersions: [...supportedVersions],
    // The SDK's list methods print to stdout otherwise. None is called here, and none may start to.
    enforceStrictCapabilities: true,
    // Output is validated elsewhere; the default would build a schema compiler for each connection.
    jsonSchemaValidator: { getValidator: passAnything },
    inputRequired: { autoFulfill: false },
  });
}

function passAnything<T>(): JsonSchemaValidator<T> {
  return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
}

/** The handshake is over: the client gets what its own schemas accept, whatever the server wrote. */
function replayedHandshake({ protocolVersion, serverInfo }: Negotiated): JsonObject {
  return { protocolVersion, capabilities: {}, serverInfo };
}

function priorVerdict({ era }: Negotiated) {
  if (era === "legacy") return { kind: "legacy" as const };
  return {
    kind: "modern" as const,
    discover: {
      supportedVersions: [modernVersion],
      capabilities: {},
      ttlMs: 0,
      cacheScope: "private" as const,
    },
  };
}

/** Results are checked by us: the SDK's own schemas cost more than they tell. */
const anyResult: StandardSchemaV1<JsonObject> = {
  "~standard": {
    version: 1,
    vendor: "plugboard",
    validate: (value) => ({ value: value as JsonObject }),
  },
};

interface SdkSenderParts {
  readonly client: Client;
  readonly wire: SdkTransport;
  readonly isModern: boolean;
  readonly clock: Clock;
  readonly failure: (error: unknown, method: string) => McpError;
}

function createSdkSender({
  client,
  wire,
  isModern,
  failure,
  clock,
}: SdkSenderParts): RequestSender {
  const send = async (request: OutgoingRequest): Promise<SdkAnswer> => {
    const { method, params } = request;
    const ask = () =>
      client.request({ method: aliasOf(method), params: { ...params } }, anyResult, {
        // Deadlines are ours; the SDK's timer cannot be switched off, only set as late as timers go.
        timeout: longestTimerMs,
        allowInputRequired: true,
      });
    try {
      return await wire.exchange(request, ask);
    } catch (error) {
      throw failure(error, method);
    }
  };
  return {
    async request(request, read) {
      const sentAt = clock.monotonic();
      const { result, raw } = await send(request);
      // The SDK takes the type off a complete result of the modern era, whose readers expect it.
      const whole = isModern ? { resultType: "complete", ...result } : result;
      return await read(whole, { ...request, sentAt, raw });
    },
    async notify(method, params) {
      try {
        await client.notification({ method, params: { ...params } });
      } catch (error) {
        throw failure(error, method);
      }
    },
  };
}

/**
 * Errors of the SDK by class and code. Those of the server and the channel come typed out of
 * `SdkTransport`; whatever the SDK says after the channel's end is only about that.
 */
function asProtocolFailure(
  error: unknown,
  sdk: Sdk,
  exchange: Exchange,
  end: McpError | undefined,
): McpError {
  if (McpError.is(error)) return error;
  if (end !== undefined) return end;
  const { SdkErrorCode } = sdk;
  const { code, data } = error instanceof sdk.SdkError ? error : {};
  if (code === SdkErrorCode.InvalidResult)
    return invalidResult("it does not say that it is complete", exchange);
  if (code === SdkErrorCode.UnsupportedResultType) return unknownResultType(data, exchange);
  const { serverName, method } = exchange;
  const options = { serverName, details: { method }, cause: error };
  const wasHeldBack =
    code === SdkErrorCode.CapabilityNotSupported ||
    code === SdkErrorCode.MethodNotSupportedByProtocolVersion;
  return wasHeldBack
    ? createError("rpc_error", `${method} was not sent: it was not negotiated`, options)
    : createError("invalid_result", `the answer to ${method} could not be read`, options);
}

function unknownResultType(data: unknown, exchange: Exchange): McpError {
  const resultType = isJsonObject(data) ? serverText(String(data["resultType"]), 40) : "";
  return invalidResult(`its type "${resultType}" is unknown`, exchange);
}
