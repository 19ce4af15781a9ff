import { describe, expect, it } from "vitest";

import type { ProtocolClient } from "../protocol/protocol-client.ts";
import { callMissingTool, callReadOnlyTool } from "./contract-call.ts";

/** A client that keeps the names it was asked to call. */
function recordingClient(): {
  readonly client: ProtocolClient;
  readonly called: readonly string[];
} {
  const called: string[] = [];
  const callTool: ProtocolClient["callTool"] = (name) => {
    called.push(name);
    return Promise.resolve({ content: [], isError: false });
  };
  return { client: { callTool } as unknown as ProtocolClient, called };
}

describe("a call that tests a server", () => {
  it.each([
    [undefined],
    [{}],
    [{ readOnlyHint: false }],
    [{ readOnlyHint: "true" }],
    [{ readOnlyHint: true, destructiveHint: true }],
  ])("is not made to a tool that claims %j", async (annotations) => {
    const { client, called } = recordingClient();
    const tool = { name: "it", ...(annotations === undefined ? {} : { annotations }) };
    await expect(callReadOnlyTool(client, tool, {}, {})).rejects.toMatchObject({ code: "denied" });
    expect(called).toEqual([]);
  });

  it("is made to a read-only tool, and to one that does not exist", async () => {
    const { client, called } = recordingClient();
    await callReadOnlyTool(client, { name: "it", annotations: { readOnlyHint: true } }, {}, {});
    await callMissingTool(client, {});
    expect(called).toEqual(["it", "plugboard_no_such_tool"]);
  });
});
