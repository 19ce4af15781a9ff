import { PassThrough } from "node:stream";

import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";

import { LineTransport } from "./line-transport.ts";

const ping = { jsonrpc: "2.0", id: 1, method: "ping" } as const;

async function open(maxLineBytes?: number) {
  const input = new PassThrough();
  const output = new PassThrough();
  const transport = new LineTransport(input, output, maxLineBytes);
  const received: JSONRPCMessage[] = [];
  transport.onmessage = (message) => void received.push(message);
  await transport.start();
  /** Writes one chunk and waits until it has been read. */
  const write = (chunk: string | Buffer): Promise<void> =>
    new Promise((resolve) => {
      input.write(chunk, () => setImmediate(resolve));
    });
  const answers = (): unknown[] =>
    String(output.read() ?? "")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown);
  return { transport, input, output, received, write, answers };
}

describe("LineTransport", () => {
  it("reads messages however the bytes are cut, even inside a character", async () => {
    const { received, write } = await open();
    const message = { ...ping, params: { text: "Grüße" } };
    const bytes = Buffer.from(`${JSON.stringify(message)}\r\n${JSON.stringify(ping)}\n\n`);
    for (const byte of bytes) await write(Buffer.from([byte]));
    expect(received).toEqual([message, ping]);
  });

  it("reads several messages from one chunk", async () => {
    const { received, write } = await open();
    await write(`${JSON.stringify(ping)}\n${JSON.stringify(ping)}\n${JSON.stringify(ping)}`);
    expect(received).toHaveLength(2);
  });

  it.each([
    ["a line that is no JSON", "{", -32_700],
    ["a number", "1", -32_600],
    ["a batch", "[]", -32_600],
    ["null", "null", -32_600],
    ["another version", '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32_600],
    ["a method that is no text", '{"jsonrpc":"2.0","id":1,"method":1}', -32_600],
    ["neither request nor answer", '{"jsonrpc":"2.0","id":1}', -32_600],
  ])("TST-08: answers %s with the JSON-RPC error for it", async (_name, line, code) => {
    const { received, write, answers } = await open();
    await write(`${line}\n${JSON.stringify(ping)}\n`);
    expect(answers()).toMatchObject([{ jsonrpc: "2.0", id: null, error: { code } }]);
    expect(received).toEqual([ping]);
  });

  it("refuses a line over the limit as a whole and goes on with the next", async () => {
    const line = JSON.stringify(ping);
    const { received, write, answers } = await open(line.length);
    await write(`${line} \n`);
    await write("x".repeat(1_000));
    await write(`${"x".repeat(1_000)}\n${line}\n`);
    expect(answers()).toMatchObject([{ error: { code: -32_700 } }, { error: { code: -32_700 } }]);
    expect(received).toEqual([ping]);
  });

  it("writes one message per line", async () => {
    const { transport, answers } = await open();
    await transport.send({ ...ping, params: { text: "a\nb" } });
    await transport.send(ping);
    expect(answers()).toEqual([{ ...ping, params: { text: "a\nb" } }, ping]);
  });

  it.each([
    ["its input ends", ({ input }: Opened) => input.end()],
    ["its input breaks", ({ input }: Opened) => input.destroy(new Error("broken"))],
    ["its output breaks", ({ output }: Opened) => output.destroy(new Error("broken"))],
    ["it is closed", ({ transport }: Opened) => void transport.close()],
  ])("closes once when %s, and then neither reads nor writes", async (_name, end) => {
    const opened = await open();
    let closings = 0;
    opened.transport.onclose = () => (closings += 1);
    end(opened);
    await opened.transport.closed;
    await opened.transport.close();
    await opened.transport.send(ping);
    expect(closings).toBe(1);
    expect(opened.answers()).toEqual([]);
  });
});

type Opened = Awaited<ReturnType<typeof open>>;
