import type { JSONRPCMessage } from "@modelcontextprotocol/client";

import type { Limits } from "../../config/keys/limits.ts";
import { createError } from "../../errors/families.ts";
import type { McpError, McpErrorOptions } from "../../errors/mcp-error.ts";
import type { Logger } from "../../ports/logger.ts";
import { isJsonObject } from "../../text/json-object.ts";
import {
  BoundScan,
  brokenBound,
  describeBound,
  type JsonBounds,
  maxBatchMessages,
} from "./json-bounds.ts";
import { LineFramer } from "./line-framer.ts";
import { sanitizeLine } from "./sanitize-line.ts";

export interface MessageReaderOptions {
  readonly serverName: string;
  readonly limits: Pick<Limits, "maxMessageBytes"> & JsonBounds;
  /** Makes a line that is no message a violation; otherwise such lines are counted. */
  readonly strict: boolean;
  readonly secrets: readonly string[];
  readonly logger: Logger;
  /** Takes one message, with its text unless it came in a batch; `false` means that no more are wanted. */
  readonly onMessage: (message: JSONRPCMessage, text: string) => boolean;
}

const openBrace = 0x7b;
const openBracket = 0x5b;
const previewChars = 200;
const maxJunkLines = 10_000;
const keptJunkLines = 5;

/**
 * Turns the bytes of a server's stdout into messages. A message is an object, or a list with objects
 * in it (a batch, handed on whole); the protocol judges what it says. Other lines, such as the banner of a
 * launcher, are skipped and counted, as long as they stay few between two messages.
 */
export class MessageReader {
  readonly #options: MessageReaderOptions;
  readonly #framer: LineFramer;
  /** The scan of a large line; undefined for any other. */
  #scan: BoundScan | undefined;
  #junkMessages = 0;
  readonly #junkHead: string[] = [];
  #junkLinesInARow = 0;
  #junkBytesInARow = 0;
  #violation: McpError | undefined;

  constructor(options: MessageReaderOptions) {
    this.#options = options;
    this.#framer = new LineFramer(options.limits.maxMessageBytes, {
      onLine: (line, byteLength) => this.#readLine(line, byteLength),
      onPiece: (bytes) => this.#scanPiece(bytes),
    });
  }

  /** Lines that were no message, since the beginning. */
  get junkMessages(): number {
    return this.#junkMessages;
  }

  /** The first lines that were no message, the unfinished one included. */
  get junkHead(): readonly string[] {
    const partial = this.#framer.partialHead.trim();
    if (partial === "" || this.#junkHead.length === keptJunkLines) return this.#junkHead;
    return [...this.#junkHead, this.#preview(partial)];
  }

  /** Delivers what `chunk` completes. An error ends the stream: nothing more may be pushed. */
  push(chunk: Buffer): McpError | undefined {
    if (this.#framer.push(chunk) !== "too-long") return this.#violation;
    const limitBytes = this.#options.limits.maxMessageBytes;
    return createError(
      "too_large",
      `the server sent a message of more than ${limitBytes} bytes`,
      this.#errorOptions(
        { limitBytes },
        "if such messages are to be expected, raise `limits.maxMessageBytes`",
      ),
    );
  }

  /** Scans a large line as it comes: in one go that would hold up everything else. */
  #scanPiece(bytes: Buffer): boolean {
    this.#scan ??= new BoundScan(this.#options.limits);
    const broken = this.#scan.feed(bytes);
    return broken === undefined || this.#refuseBound(broken);
  }

  #readLine(line: string, byteLength: number): boolean {
    const wasScanned = this.#scan !== undefined;
    this.#scan = undefined;
    const first = line.charCodeAt(0);
    const text = first === openBrace || first === openBracket ? line : line.trim();
    if (text === "") return this.#skip(line, byteLength);
    const broken = wasScanned ? undefined : brokenBound(text, this.#options.limits);
    if (broken !== undefined) return this.#refuseBound(broken);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return this.#junk(line, byteLength);
    }
    if (typeof value !== "object" || value === null) return this.#junk(line, byteLength);
    if (Array.isArray(value)) {
      if (value.length > maxBatchMessages)
        return this.#refuse(`the server sent a batch of ${value.length} messages`);
      if (!value.some(isJsonObject)) return this.#junk(line, byteLength);
    }
    return this.#deliver(value, text);
  }

  #deliver(value: object, text: string): boolean {
    this.#junkLinesInARow = 0;
    this.#junkBytesInARow = 0;
    return this.#options.onMessage(value as JSONRPCMessage, text);
  }

  #junk(line: string, byteLength: number): boolean {
    const { strict, serverName, logger } = this.#options;
    this.#junkMessages += 1;
    this.#junkLinesInARow += 1;
    if (this.#junkHead.length < keptJunkLines) this.#junkHead.push(this.#preview(line));
    if (strict) return this.#refuse("the server wrote a line to stdout that is no message", line);
    if (this.#junkMessages === 1)
      logger.warn("a line on stdout is no message; further ones are only counted", {
        serverName,
        line: this.#preview(line),
      });
    return this.#skip(line, byteLength);
  }

  #skip(line: string, byteLength: number): boolean {
    this.#junkBytesInARow += byteLength + 1;
    if (
      this.#junkLinesInARow <= maxJunkLines &&
      this.#junkBytesInARow <= this.#options.limits.maxMessageBytes
    )
      return true;
    return this.#refuse("the server writes to stdout what is no message", line);
  }

  #refuse(reason: string, line?: string): false {
    const preview = line === undefined ? {} : { line: this.#preview(line) };
    const options = this.#errorOptions({ junkMessages: this.#junkMessages, ...preview });
    this.#violation = createError("protocol_violation", reason, options);
    return false;
  }

  #refuseBound(broken: "deep" | "dense"): false {
    const { code, text, hint } = describeBound(broken, this.#options.limits);
    this.#violation = createError(code, text, this.#errorOptions({}, hint));
    return false;
  }

  #preview(line: string): string {
    return sanitizeLine(line, previewChars, this.#options.secrets);
  }

  #errorOptions(details: Readonly<Record<string, unknown>>, hint?: string): McpErrorOptions {
    const { serverName } = this.#options;
    return { serverName, hint, details: { transport: "stdio", ...details } };
  }
}
