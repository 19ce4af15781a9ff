import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import { createError } from "../../errors/families.ts";
import { encodeHeaderValue } from "../../protocol/wire/header-value.ts";

const versionKey = "io.modelcontextprotocol/protocolVersion";

/** Which parameter the `Mcp-Name` header repeats, by method. */
const nameParameters: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

// What describes the connection or the message itself; a configured value could only contradict it.
const reservedNames: ReadonlySet<string> = new Set([
  "accept",
  "connection",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "last-event-id",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const reservedPrefix = "mcp-";
const parameterPrefix = "mcp-param-";

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const fieldValue = /^[\t\u0020-\u007E\u0080-\u00FF]*$/;
const visibleText = /^[\u0021-\u007E]+$/;
const repeatedBearer = /^(?:Bearer\s+){2,}/i;

/** Whether a server's text may be sent back in a header: session ids, event ids. */
export function isVisibleAscii(value: string): boolean {
  return visibleText.test(value);
}

export interface ConfiguredHeaders {
  /** Names and values in turn, names in lower case. */
  readonly fields: readonly string[];
  /** Names that were left out because the transport sets them itself. */
  readonly ignored: readonly string[];
}

/** Checks the headers of a configuration; throws `config_invalid` for what HTTP cannot carry. */
export function parseConfiguredHeaders(
  headers: Readonly<Record<string, string>>,
  serverName: string,
): ConfiguredHeaders {
  const fields = new Map<string, string>([["user-agent", "plugboard"]]);
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase();
    if (!token.test(name) || !fieldValue.test(value)) {
      throw createError(
        "config_invalid",
        `the header ${JSON.stringify(name)} has characters that HTTP does not allow`,
        {
          serverName,
          details: { header: name },
        },
      );
    }
    if (reservedNames.has(key) || key.startsWith(reservedPrefix)) ignored.push(name);
    // A token that was pasted with its scheme: no server accepts the scheme twice.
    else
      fields.set(key, key === "authorization" ? value.replace(repeatedBearer, "Bearer ") : value);
  }
  return { fields: [...fields].flat(), ignored };
}

/**
 * The headers of every request of one transport. A message that states its own protocol version
 * (2026-07-28 and later) is described by its own content and carries no session.
 */
export class HttpHeaders {
  readonly #configured: readonly string[];
  #sessionId: string | undefined;
  #protocolVersion: string | undefined;
  /** Legacy messages all have the same headers, so they are built once. */
  #legacyMessage: string[] | undefined;

  constructor(configured: readonly string[]) {
    this.#configured = configured;
  }

  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  set sessionId(value: string | undefined) {
    this.#sessionId = value;
    this.#legacyMessage = undefined;
  }

  get protocolVersion(): string | undefined {
    return this.#protocolVersion;
  }

  set protocolVersion(value: string | undefined) {
    this.#protocolVersion = value;
    this.#legacyMessage = undefined;
  }

  /** `extra` may only add `Mcp-Param-*` headers; anything else in it is left out. */
  forMessage(message: JSONRPCMessage, extra?: Readonly<Record<string, string>>): string[] {
    const method = "method" in message ? message.method : undefined;
    const version = statedVersion(message);
    if (version === undefined && extra === undefined) {
      if (method === "initialize") return this.#postFields();
      return (this.#legacyMessage ??= [...this.#postFields(), ...this.#connectionFields()]);
    }
    const fields = this.#postFields();
    if (version === undefined) fields.push(...this.#connectionFields());
    else fields.push("mcp-protocol-version", version);
    if (version !== undefined && method !== undefined) {
      fields.push("mcp-method", encodeHeaderValue(method));
      const name = nameOf(message, method);
      if (name !== undefined) fields.push("mcp-name", encodeHeaderValue(name));
    }
    for (const [key, value] of Object.entries(extra ?? {})) {
      if (key.toLowerCase().startsWith(parameterPrefix)) fields.push(key.toLowerCase(), value);
    }
    return fields;
  }

  /** For a GET that receives events, from after `lastEventId` when there is one. */
  forStream(lastEventId?: string): string[] {
    const fields = [
      ...this.#configured,
      "accept",
      "text/event-stream",
      ...this.#connectionFields(),
    ];
    if (lastEventId !== undefined) fields.push("last-event-id", lastEventId);
    return fields;
  }

  /** For plain JSON in both directions: no word about MCP. */
  forJson(hasBody: boolean): string[] {
    const fields = [...this.#configured, "accept", "application/json"];
    if (hasBody) fields.push("content-type", "application/json");
    return fields;
  }

  forSessionEnd(): string[] {
    return [...this.#configured, ...this.#connectionFields()];
  }

  #postFields(): string[] {
    return [
      ...this.#configured,
      "accept",
      "application/json, text/event-stream",
      "content-type",
      "application/json",
    ];
  }

  #connectionFields(): string[] {
    const fields: string[] = [];
    if (this.#sessionId !== undefined) fields.push("mcp-session-id", this.#sessionId);
    if (this.#protocolVersion !== undefined)
      fields.push("mcp-protocol-version", this.#protocolVersion);
    return fields;
  }
}

/** The protocol version a message states about itself; only messages of the modern era do. */
export function statedVersion(message: JSONRPCMessage): string | undefined {
  if (!("method" in message)) return undefined;
  const version = message.params?._meta?.[versionKey];
  return typeof version === "string" ? version : undefined;
}

function nameOf(message: JSONRPCMessage, method: string): string | undefined {
  const parameter = nameParameters.get(method);
  if (parameter === undefined || !("params" in message)) return undefined;
  const value = message.params?.[parameter];
  return typeof value === "string" ? value : undefined;
}
