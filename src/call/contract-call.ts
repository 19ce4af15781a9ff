import { createError } from "../errors/families.ts";
import type {
  ListedTool,
  ProtocolClient,
  RawToolResult,
  RequestOptions,
} from "../protocol/protocol-client.ts";
import type { JsonObject } from "../text/json-object.ts";

/*
 * Calls that show how a server keeps to the protocol, and that no agent would make: the path of a call refuses an
 * unknown tool and wrong arguments before anything is sent. No tool is called here that does not claim to be
 * read-only. See decision 33.
 */

type CallOptions = Pick<RequestOptions, "timeoutMs" | "signal">;

const missingTool = "plugboard_no_such_tool";

/** Calls a tool that no server has. */
export function callMissingTool(
  client: ProtocolClient,
  options: CallOptions,
): Promise<RawToolResult> {
  return client.callTool(missingTool, {}, options);
}

/** Calls a tool that claims to be read-only, with arguments that it may have to refuse; throws `denied` for any other. */
export async function callReadOnlyTool(
  client: ProtocolClient,
  tool: Pick<ListedTool, "name" | "annotations">,
  args: JsonObject,
  options: CallOptions,
): Promise<RawToolResult> {
  if (!claimsReadOnly(tool))
    throw createError(
      "denied",
      "only a tool that claims to be read-only is called to test a server",
    );
  return await client.callTool(tool.name, args, options);
}

export function claimsReadOnly({ annotations }: Pick<ListedTool, "annotations">): boolean {
  return annotations?.["readOnlyHint"] === true && annotations["destructiveHint"] !== true;
}
