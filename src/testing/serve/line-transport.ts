import type { Readable, Writable } from "node:stream";

import {
  type JSONRPCMessage,
  ProtocolErrorCode,
  type Transport,
} from "@modelcontextprotocol/server";

const newline = 0x0a;

/**
 * The server's end of a stdio connection: one JSON-RPC message per line. Unlike the SDK's, it answers
 * a line that is no message with the JSON-RPC error for it instead of dropping it, and its cost grows
 * with the bytes only, however long a line is. It ends when the input ends or the output breaks.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  /** Settles when the connection has ended, for whatever reason. */
  readonly closed: Promise<void>;

  readonly #input: Readable;
  readonly #output: Writable;
  readonly #maxLineBytes: number;
  #pieces: Buffer[] = [];
  #pendingBytes = 0;
  #settleClosed!: () => void;
  #isClosed = false;

  constructor(input: Readable, output: Writable, maxLineBytes = 10 * 1_024 * 1_024) {
    this.#input = input;
    this.#output = output;
    this.#maxLineBytes = maxLineBytes;
    this.closed = new Promise((resolve) => (this.#settleClosed = resolve));
  }

  async start(): Promise<void> {
    this.#input.on("data", this.#onData);
    this.#input.once("close", this.#end);
    this.#input.once("end", this.#end);
    this.#input.on("error", this.#onFailure);
    this.#output.on("error", this.#onFailure);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#write(message);
  }

  async close(): Promise<void> {
    this.#end();
  }

  readonly #onData = (chunk: Buffer): void => {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#keep(chunk.subarray(start, end));
      this.#finishLine();
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  };

  readonly #onFailure = (error: Error): void => {
    this.onerror?.(error);
    this.#end();
  };

  readonly #end = (): void => {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // The error listener of the output stays: a late write to a broken pipe must not be fatal.
    this.#input.off("data", this.#onData);
    this.#input.pause();
    this.#pieces = [];
    this.#settleClosed();
    this.onclose?.();
  };

  /** Past the limit only the length is kept: the line is refused as a whole when it ends. */
  #keep(piece: Buffer): void {
    this.#pendingBytes += piece.length;
    if (this.#pendingBytes <= this.#maxLineBytes) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  #finishLine(): void {
    const bytes = this.#pendingBytes;
    const line = Buffer.concat(this.#pieces).toString("utf8").trim();
    this.#pieces = [];
    this.#pendingBytes = 0;
    if (bytes > this.#maxLineBytes)
      return this.#refuse(ProtocolErrorCode.ParseError, "Parse error: the line is too long");
    if (line !== "") this.#receive(line);
  }

  #receive(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return this.#refuse(ProtocolErrorCode.ParseError, "Parse error");
    }
    if (isMessage(message)) this.onmessage?.(message);
    else this.#refuse(ProtocolErrorCode.InvalidRequest, "Invalid request");
  }

  #refuse(code: number, message: string): void {
    this.#write({ jsonrpc: "2.0", id: null, error: { code, message } });
  }

  #write(message: unknown): void {
    if (!this.#isClosed) this.#output.write(`${JSON.stringify(message)}\n`);
  }
}

/** Enough to route a message; what its members hold is for the server behind to check. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== "object" || value === null) return false;
  if (!("jsonrpc" in value) || value.jsonrpc !== "2.0") return false;
  return "method" in value
    ? typeof value.method === "string"
    : "result" in value || "error" in value;
}
