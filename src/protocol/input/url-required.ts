import { createError } from "../../errors/families.ts";
import type { McpError, RpcError } from "../../errors/mcp-error.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import type { InputHandlers } from "../wire/input-handlers.ts";
import { maxInputRequests } from "./input-required.ts";

/** The legacy era's error for a request that cannot be done before a person has visited some pages. */
const urlElicitationRequired = -32_042;

/** True when somebody can send a person to a page. */
export function offersUrls(handlers: InputHandlers): boolean {
  return handlers["elicitation/create"]?.capability["url"] !== undefined;
}

/** The questions that come with such an error; undefined for any other, and when they make no sense. */
export function readUrlRequired({ details }: McpError): readonly JsonObject[] | undefined {
  const rpc = details["rpc"] as RpcError | undefined;
  if (rpc?.code !== urlElicitationRequired) return undefined;
  const { elicitations } = isJsonObject(rpc.data) ? rpc.data : {};
  if (!Array.isArray(elicitations)) return undefined;
  if (elicitations.length === 0 || elicitations.length > maxInputRequests) return undefined;
  const questions = elicitations.filter((it): it is JsonObject => isJsonObject(it));
  const areAllUrls = questions.every(({ mode }) => mode === "url");
  return areAllUrls && questions.length === elicitations.length ? questions : undefined;
}

/** The server's error after the person has agreed: what they do on the page takes its time. */
export function retryAfterVisit({ code, message, serverName, details }: McpError): McpError {
  return createError(code, message, {
    serverName,
    details,
    retryable: true,
    hint: "the page has been opened; call again when what it asks for is done",
  });
}
