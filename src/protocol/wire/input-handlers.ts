import type { JsonObject } from "../../text/json-object.ts";
import type { RequestOwner } from "./request-owner.ts";

/** The methods by which a server asks something of a person, of a model or of the host. */
export type InputMethod = "elicitation/create" | "sampling/createMessage" | "roots/list";

export interface InputContext {
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal;
  /** `RequestOptions.owner` of the request that needs the answer; undefined when that is not certain. */
  readonly owner: RequestOwner | undefined;
}

export interface InputHandler {
  /** The capability declared for it: `{ form: {} }` for an elicitation that can show forms, else mostly `{}`. */
  readonly capability: JsonObject;
  /** The result as the protocol defines it for the method; nothing of `params` has been checked. */
  answer(params: JsonObject, context: InputContext): Promise<JsonObject>;
}

/** A method without a handler is not declared, and a server that asks for it all the same is refused. */
export type InputHandlers = { readonly [Method in InputMethod]?: InputHandler | undefined };

const capabilityNames: Readonly<Record<InputMethod, string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

export function findHandler(handlers: InputHandlers, method: unknown): InputHandler | undefined {
  return isInputMethod(method) ? handlers[method] : undefined;
}

function isInputMethod(method: unknown): method is InputMethod {
  return typeof method === "string" && Object.hasOwn(capabilityNames, method);
}

/** The `capabilities` of this client in either handshake. */
export function declaredCapabilities(handlers: InputHandlers): JsonObject {
  const declared: Record<string, JsonObject> = {};
  for (const [method, name] of Object.entries(capabilityNames)) {
    const handler = findHandler(handlers, method);
    if (handler !== undefined) declared[name] = handler.capability;
  }
  return declared;
}
