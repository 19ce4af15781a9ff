// `plugboard/client`: one server without a host, as calls or as messages. Named exports only.

export { connectClient } from "../host/connect-client.ts";
export type { ClientOptions } from "../host/connect-client.ts";
export type { McpClient, McpServerInfo, McpToolResult } from "../connection/direct-client.ts";
export type { DirectOptions, DirectServer } from "../connection/open-directly.ts";
export { openWire } from "../connection/open-wire.ts";
export type { Wire, WireOptions } from "../connection/open-wire.ts";
export type { WireIdGenerator } from "../connection/wire-ids.ts";
export { TransportMessage } from "../protocol/wire/transport-message.ts";
export type { ListedTool, RequestOptions, ServerIdentity } from "../protocol/protocol-client.ts";
export type { ProtocolEra } from "../protocol/wire/protocol-versions.ts";
