import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import type { McpError } from "../../../src/index.ts";
import type { MessageReader } from "../../../src/transport/reading/message-reader.ts";
import { type LineScript, renderLine } from "../hostile/mutated-line.mjs";
import type { CutCallScript } from "./conversations.ts";

export interface MutatedWireOptions {
  readonly createReader: (onMessage: (message: JSONRPCMessage) => boolean) => MessageReader;
  readonly handshake: readonly LineScript[];
  /** The script of the call that names it. */
  readonly scripts: ReadonlyMap<string, CutCallScript>;
}

const honestResults: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "mutated", version: "1.0.0" },
  },
  "tools/list": { tools: [{ name: "attack", inputSchema: { type: "object" } }] },
  ping: {},
};

/**
 * A child's stdout without the child: bytes go through the reader of the stdio transport, and what it
 * refuses ends the connection, just as there.
 */
export class MutatedWire implements Transport {
  onmessage?: Transport["onmessage"];
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  /** Why the connection ended by itself. */
  failure: McpError | undefined;

  readonly #options: MutatedWireOptions;
  readonly #reader: MessageReader;
  #isClosed = false;

  constructor(options: MutatedWireOptions) {
    this.#options = options;
    this.#reader = options.createReader((message) => {
      this.onmessage?.(message);
      return !this.#isClosed;
    });
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    if ("method" in message && "id" in message) {
      const { id, method, params = {} } = message;
      const { nonce } = (params["arguments"] ?? {}) as { readonly nonce?: string };
      const script = this.#options.scripts.get(nonce ?? "");
      if (method !== "tools/call") this.#shakeHands(id, method);
      else if (script !== undefined) this.#play(script, id, nonce ?? "");
    }
    return Promise.resolve();
  }

  close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.onclose?.();
    }
    return Promise.resolve();
  }

  #shakeHands(id: string | number, method: string): void {
    const result = honestResults[method];
    const lies = this.#options.handshake.map((line) => this.#render(line, id, "hello"));
    const answer =
      result === undefined
        ? { jsonrpc: "2.0", id, error: { code: -32_601, message: "Method not found" } }
        : { jsonrpc: "2.0", id, result };
    this.#push(Buffer.concat([...lies, Buffer.from(`${JSON.stringify(answer)}\n`)]), []);
  }

  #play({ lines, isAnswered, cuts }: CutCallScript, id: string | number, text: string): void {
    const rendered = lines.map((line) => this.#render(line, id, text));
    const result = { content: [{ type: "text", text }] };
    if (isAnswered)
      rendered.push(Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`));
    this.#push(Buffer.concat(rendered), cuts);
  }

  #render(line: LineScript, id: string | number, text: string): Buffer {
    return renderLine(line, { id, otherId: Number(id) - 1, text });
  }

  /** Like a pipe: later, in order, and in pieces. */
  #push(bytes: Buffer, cuts: readonly number[]): void {
    queueMicrotask(() => {
      const ends = cuts.map((cut) => Math.floor(cut * bytes.length)).toSorted((a, b) => a - b);
      let start = 0;
      for (const end of [...ends, bytes.length]) {
        if (this.#isClosed) return;
        const error = this.#reader.push(bytes.subarray(start, end));
        start = end;
        if (error === undefined) continue;
        this.failure = error;
        void this.close();
      }
    });
  }
}
