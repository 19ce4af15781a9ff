import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { serverText } from "../../text/untrusted/bounded-text.ts";
import type { ServerIdentity } from "../protocol-client.ts";
import { modernVersion } from "../wire/protocol-versions.ts";

/** How this client introduces itself. */
export interface ClientFacts {
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly capabilities: JsonObject;
}

const metaPrefix = "io.modelcontextprotocol";

/** The `_meta` members that every message of the modern era carries. */
export function modernEnvelope({ clientInfo, capabilities }: ClientFacts): JsonObject {
  return {
    [`${metaPrefix}/protocolVersion`]: modernVersion,
    [`${metaPrefix}/clientInfo`]: clientInfo,
    [`${metaPrefix}/clientCapabilities`]: capabilities,
  };
}

export function initializeParams(protocolVersion: string, client: ClientFacts): JsonObject {
  const { capabilities, clientInfo } = client;
  return { protocolVersion, capabilities, clientInfo };
}

/** Facts about the server that either handshake tells. */
export interface ServerFacts {
  readonly serverInfo: ServerIdentity;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
}

/**
 * The facts of a `server/discover` result, or undefined when it is no evidence of a modern server:
 * servers that answer every unknown method with `{}` exist, and so do results without our revision.
 */
export function readDiscoverResult(result: JsonObject): ServerFacts | undefined {
  const { resultType = "complete", supportedVersions, _meta } = result;
  if (resultType !== "complete" || !Array.isArray(supportedVersions)) return undefined;
  if (!supportedVersions.includes(modernVersion)) return undefined;
  const info = isJsonObject(_meta) ? _meta[`${metaPrefix}/serverInfo`] : undefined;
  return readFacts(result, info);
}

/** The facts of an `initialize` result with the revision the server chose, which may be any text. */
export function readInitializeResult(
  result: JsonObject,
): (ServerFacts & { readonly protocolVersion: string }) | undefined {
  const { protocolVersion, serverInfo } = result;
  if (typeof protocolVersion !== "string") return undefined;
  return { ...readFacts(result, serverInfo), protocolVersion };
}

function readFacts(result: JsonObject, info: unknown): ServerFacts {
  const { capabilities, instructions } = result;
  return {
    serverInfo: readIdentity(info),
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}

/** A server need not say who it is; what it says is shown in many places, so it is cleaned here. */
function readIdentity(info: unknown): ServerIdentity {
  const { name, version, title } = isJsonObject(info) ? info : {};
  return {
    name: typeof name === "string" ? serverText(name, 128) : "unknown",
    version: typeof version === "string" ? serverText(version, 128) : "unknown",
    ...(typeof title === "string" ? { title: serverText(title, 128) } : {}),
  };
}
