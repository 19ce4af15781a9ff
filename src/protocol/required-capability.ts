import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { Exchange } from "./channel-failures.ts";
import { isJsonObject, type JsonObject } from "./json-object.ts";

const capabilityOfMethod: ReadonlyMap<string, string> = new Map([
  ["completion/complete", "completions"],
  ["logging/setLevel", "logging"],
  ["prompts/get", "prompts"],
  ["prompts/list", "prompts"],
  ["resources/list", "resources"],
  ["resources/read", "resources"],
  ["resources/subscribe", "resources"],
  ["resources/templates/list", "resources"],
  ["resources/unsubscribe", "resources"],
  ["tools/call", "tools"],
  ["tools/list", "tools"],
]);

/** The capability `method` needs and the server did not declare; undefined when it may be called. */
export function missingCapability(method: string, capabilities: JsonObject): string | undefined {
  const name = capabilityOfMethod.get(method);
  if (name === undefined) return undefined;
  const declared = Object.hasOwn(capabilities, name) ? capabilities[name] : undefined;
  if (!isJsonObject(declared)) return name;
  if (method === "resources/subscribe" && declared["subscribe"] !== true)
    return "resources.subscribe";
  return undefined;
}

/** The request was never sent: the server said at the start that it has no such thing. */
export function capabilityFailure(capability: string, { serverName, method }: Exchange): McpError {
  return createError(
    "rpc_error",
    `${method} was not sent: the server does not offer ${capability}`,
    { serverName, details: { method, capability } },
  );
}
