import type { Limits } from "../../config/keys/limits.ts";
import type { ServerConfig } from "../../config/keys/server-config.ts";
import { type ConnectionParts, openConnection } from "../../connection/open-connection.ts";
import { McpError, type RpcError } from "../../errors/mcp-error.ts";
import type { ProtocolClient } from "../../protocol/protocol-client.ts";
import type { JsonObject } from "../../text/json-object.ts";
import { redact } from "../../text/secrets/redact.ts";
import { serverText } from "../../text/untrusted/bounded-text.ts";
import type { HostTransport } from "../../transport/host-transport.ts";
import type { RuleResult, RuleVerdict } from "../contract-report.ts";
import { type RuleId, ruleTexts } from "./rule-texts.ts";

/** What a server did about a rule, before the words of the rule are added. */
export interface Judged {
  readonly verdict: RuleVerdict;
  readonly evidence: string;
}

export const pass = (evidence: string): Judged => ({ verdict: "pass", evidence });
export const fail = (evidence: string): Judged => ({ verdict: "fail", evidence });
export const warn = (evidence: string): Judged => ({ verdict: "warn", evidence });
export const skip = (evidence: string): Judged => ({ verdict: "skip", evidence });

const maxEvidence = 300;

/** Joins a verdict with the words of its rule. Text of the server is made safe to show here. */
export function resultOf(
  rule: RuleId,
  { verdict, evidence }: Judged,
  secrets: Iterable<string> = [],
): RuleResult {
  const shown = serverText(redact(evidence, secrets), maxEvidence);
  return { rule, text: ruleTexts[rule], verdict, evidence: shown };
}

/** Writes a number with its noun: `1 tool`, `2 tools`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** How a server answered a request: with a result, with an error of its own, or not at all. */
export type Answer =
  | { readonly result: JsonObject }
  | { readonly error: RpcError }
  | { readonly failure: McpError };

/** Says in a few words what a server answered. */
export function describeAnswer(answer: Answer): string {
  if ("result" in answer) return "a result";
  if ("error" in answer) return `error ${answer.error.code}: ${answer.error.message}`;
  const { code, message } = answer.failure;
  return code === "timeout" ? "no answer in time" : message;
}

/** A connection after its end, and how long that took. */
export interface ClosedConnection {
  readonly transport: HostTransport;
  readonly elapsedMs: number;
}

/** A server that keeps ending is started so often and no more. */
const maxStarts = 6;

/** One look at one server: its open connection, opened anew when a rule has cost it. */
export class ContractRun {
  /** The entry; its kind is the dialect that was found once a connection was open. */
  config: ServerConfig;
  readonly parts: ConnectionParts;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Every connection so far, also those that a rule has cost. */
  readonly transports: HostTransport[] = [];
  /** Values that the server was given and that no evidence may show. */
  readonly secrets = new Set<string>();
  readonly #connectTimeoutMs: number;
  #open: { readonly client: ProtocolClient; readonly transport: HostTransport } | undefined;
  #starts = 0;
  #limits: Limits;

  constructor(
    parts: ConnectionParts,
    options: {
      readonly connectTimeoutMs: number;
      readonly timeoutMs: number;
      readonly signal: AbortSignal | undefined;
    },
  ) {
    this.parts = parts;
    this.#limits = parts.limits;
    this.config = parts.config;
    this.timeoutMs = options.timeoutMs;
    this.signal = options.signal;
    this.#connectTimeoutMs = options.connectTimeoutMs;
  }

  /** Opens the connection anew, so that its process gets the time of `limits` to end. */
  async reopen(limits: Partial<Limits>): Promise<void> {
    await this.close();
    this.#limits = { ...this.parts.limits, ...limits };
    await this.client();
  }

  /** The ready client. Rejects when the server cannot be started, or has ended too often. */
  async client(): Promise<ProtocolClient> {
    return (await this.#connection()).client;
  }

  /** Sends one request and waits for what comes of it; rejects only when no connection can be opened. */
  async ask(method: string, params: JsonObject = {}): Promise<Answer> {
    const client = await this.client();
    const { timeoutMs, signal } = this;
    try {
      return { result: await client.request(method, params, { fresh: true, timeoutMs, signal }) };
    } catch (error) {
      return failedAnswer(error);
    }
  }

  /** Closes the connection; gives what was seen of it until its end, and how long the end took. */
  async close(): Promise<ClosedConnection | undefined> {
    const open = this.#open;
    if (open === undefined) return undefined;
    this.#open = undefined;
    const { clock } = this.parts;
    const since = clock.monotonic();
    open.client.onclose = undefined;
    await open.client.close();
    await open.transport.close();
    return { transport: open.transport, elapsedMs: clock.monotonic() - since };
  }

  async #connection(): Promise<{
    readonly client: ProtocolClient;
    readonly transport: HostTransport;
  }> {
    if (this.#open !== undefined) return this.#open;
    if (this.#starts >= maxStarts)
      throw new Error(`it ended ${maxStarts} times and is not started again`);
    this.#starts += 1;
    const { signal } = this;
    const opened = await openConnection(
      { ...this.parts, config: this.config, limits: this.#limits },
      { connectTimeoutMs: this.#connectTimeoutMs, signal },
    );
    const { transport } = this.config;
    if ("url" in transport && transport.kind === "http")
      this.config = {
        ...this.config,
        transport: { ...transport, kind: opened.transport.kind as typeof transport.kind },
      };
    this.#open = opened;
    this.transports.push(opened.transport);
    for (const secret of opened.secrets) this.secrets.add(secret);
    opened.client.onclose = () => {
      if (this.#open === opened) this.#open = undefined;
    };
    return opened;
  }
}

/** An answer of a failed request: the server's own error where it sent one. */
export function failedAnswer(error: unknown): Answer {
  if (!McpError.is(error)) throw error;
  const rpc = error.details["rpc"] as RpcError | undefined;
  return rpc === undefined ? { failure: error } : { error: rpc };
}
