import { describe, expect, it } from "vitest";

import { connectScripted } from "../../tests/fixtures/protocol/connect-scripted.ts";
import { chooseProtocol, protocolCoreFrom } from "./choose-protocol.ts";

describe("chooseProtocol", () => {
  // One of the few things the two make of a server differently: the SDK takes no null for `_meta`.
  const scripts = { "tools/call": () => ({ content: [], _meta: null }) };

  it("`sdk` is the official client", async () => {
    const { client } = await connectScripted(chooseProtocol("sdk"), scripts);
    await expect(client.callTool("a", {})).rejects.toMatchObject({ code: "protocol_violation" });
  });

  it("`core` is our own", async () => {
    const { client } = await connectScripted(chooseProtocol("core"), scripts);
    await expect(client.callTool("a", {})).resolves.toEqual({ content: [], isError: false });
  });

  it("the environment chooses the SDK by its name, and nothing else", () => {
    expect(protocolCoreFrom({ PLUGBOARD_PROTOCOL_CORE: "sdk" })).toBe("sdk");
    for (const other of [undefined, "", "core", "SDK", "own"])
      expect(protocolCoreFrom({ PLUGBOARD_PROTOCOL_CORE: other })).toBe("core");
  });
});
