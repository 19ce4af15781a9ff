import { describe, expect, it, onTestFinished } from "vitest";

import { connectScripted } from "../../../tests/fixtures/protocol/connect-scripted.ts";
import { implementations } from "../../../tests/fixtures/protocol/implementations.ts";
import { settled } from "../../../tests/fixtures/protocol/manual-clock.ts";
import { protocolOptions } from "../../../tests/fixtures/protocol/protocol-options.ts";
import { resolveLimits } from "../../config/keys/limits.ts";
import { systemClock } from "../../ports/clock.ts";
import { silentLogger } from "../../ports/logger.ts";
import { demoServerEntry } from "../../testing/index.ts";
import { createStdioTransport } from "../../transport/stdio/stdio-transport.ts";

describe.each(implementations)("the text of a response, over %s", (_, connect) => {
  it("A13: is kept on request exactly as it came, numbers that JavaScript cannot hold included", async () => {
    const { client, peer } = await connectScripted(connect);
    const call = client.callTool("a", {}, { keepRaw: true });
    await settled();
    const { id } = peer.received.at(-1) ?? {};
    const text = `{"result":{"content":[],"structuredContent":{"big":12345678901234567890,"huge":1e400,"exact":1.0}},"id":${id},"jsonrpc":"2.0"}`;
    peer.sendText(text);
    const result = await call;
    expect(result.raw).toBe(text);
    expect(result).toMatchObject({ content: [], isError: false });
  });

  it("is not kept unless asked for, nor where the transport has none", async () => {
    const { client, peer } = await connectScripted(connect);
    for (const keepRaw of [false, true]) {
      const call = client.callTool("a", {}, { keepRaw });
      await settled();
      const { id } = peer.received.at(-1) ?? {};
      if (keepRaw) peer.respond(id, { content: [] });
      else peer.sendText(`{"jsonrpc":"2.0","id":${id},"result":{"content":[]}}`);
      expect(await call).not.toHaveProperty("raw");
    }
  });

  it("comes from a real process as it wrote it", async () => {
    const { command, args } = demoServerEntry();
    const options = protocolOptions({ serverName: "demo" });
    const transport = createStdioTransport({
      serverName: "demo",
      command,
      args,
      env: { PATH: process.env["PATH"] ?? "" },
      limits: resolveLimits(),
      clock: systemClock,
      logger: silentLogger,
    });
    const client = await connect(transport, { ...options, clock: systemClock });
    onTestFinished(() => client.close());
    const [tool] = (await client.listTools()).tools;
    const result = await client.callTool(tool?.name ?? "", { text: "grüß" }, { keepRaw: true });
    const { raw = "", ...decoded } = result;
    expect(JSON.parse(raw)).toMatchObject({ jsonrpc: "2.0", result: { content: decoded.content } });
    expect(transport).not.toHaveProperty("messageText");
  });
});
