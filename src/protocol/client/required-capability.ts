import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import type { Exchange } from "../channel/channel-failures.ts";

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

/** For every method that needs something the server did not declare: what that is. */
export function missingCapabilities(capabilities: JsonObject): ReadonlyMap<string, string> {
  const missing = new Map<string, string>();
  for (const [method, name] of capabilityOfMethod) {
    const declared = Object.hasOwn(capabilities, name) ? capabilities[name] : undefined;
    if (!isJsonObject(declared)) missing.set(method, name);
    else if (method === "resources/subscribe" && declared["subscribe"] !== true)
      missing.set(method, "resources.subscribe");
  }
  return missing;
}

/** The request was never sent: the server said at the start that it has no such thing. */
export function unsentFailure(capability: string, { serverName, method }: Exchange): McpError {
  return createError(
    "rpc_error",
    `${method} was not sent: the server does not offer ${capability}`,
    { serverName, details: { method, capability } },
  );
}
