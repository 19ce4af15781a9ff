import type { Limits, Logger, McpHost, Outcome, Session } from "../../src/index.ts";
import { createBareHost, type Product } from "./product.ts";
import type { AnyServerEntries, AttackedCall, CallEnd, Subject, SubjectCounts } from "./subject.ts";

export async function openPlugboard(
  product: Product,
  servers: AnyServerEntries,
  limits: Partial<Limits> = {},
): Promise<Subject> {
  const counts = new HostCounts();
  const host = await createBareHost(product, { servers, limits, logger: counts });
  counts.watch(host);
  const session = host.session({ agent: "abuse", level: "yolo" });
  // A server that cannot be listed is for the row to find out.
  await session.ready();
  return new PlugboardSubject(host, session, counts);
}

class PlugboardSubject implements Subject {
  readonly #host: McpHost;
  readonly #session: Session;
  readonly #counts: HostCounts;
  #lastCall = 0;

  constructor(host: McpHost, session: Session, counts: HostCounts) {
    this.#host = host;
    this.#session = session;
    this.#counts = counts;
  }

  get counts(): SubjectCounts {
    return this.#counts;
  }

  async call({
    server,
    tool,
    args,
    timeoutMs,
    signal,
    onProgress,
  }: AttackedCall): Promise<CallEnd> {
    this.#lastCall += 1;
    const callId = `call-${this.#lastCall}`;
    const name = `mcp__${server}__${tool}`;
    const outcome = await this.#session.call(name, args, { timeoutMs, signal, onProgress, callId });
    this.#counts.ended(callId, outcome);
    return callEnd(outcome);
  }

  disconnect(server: string): Promise<void> {
    return this.#host.disconnect(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.close();
  }
}

function callEnd(outcome: Outcome): CallEnd {
  const { ok, text, structured, durationMs } = outcome;
  return {
    ok,
    text,
    structured,
    code: ok ? "" : outcome.error.code,
    errorData: ok ? undefined : outcome.error.rpc?.data,
    tookMs: durationMs,
  };
}

/** Counts what a host announces and what it only logs. */
export class HostCounts implements SubjectCounts, Logger {
  doubleEnds = 0;
  internalErrors = 0;
  dropped = 0;
  warnings = 0;
  readonly #announced = new Map<string, number>();
  readonly #ended = new Set<string>();

  watch(host: McpHost): void {
    host.on("call-end", ({ callId }) => {
      if (this.#ended.has(callId)) this.doubleEnds += 1;
      this.#announced.set(callId, (this.#announced.get(callId) ?? 0) + 1);
    });
    host.on("warning", () => void (this.warnings += 1));
  }

  /** To be told of every call as soon as its caller knows. */
  ended(callId: string, outcome: Outcome): void {
    if (this.#announced.get(callId) !== 1) this.doubleEnds += 1;
    this.#announced.delete(callId);
    this.#ended.add(callId);
    const hasFailedInside = !outcome.ok && outcome.error.message.includes("unexpectedly");
    if (hasFailedInside) this.internalErrors += 1;
  }

  debug(_message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    for (const name of ["unmatched", "repeated"]) {
      const count = fields[name];
      if (typeof count === "number") this.dropped += count;
    }
  }

  info(): void {}

  warn(): void {}

  error(): void {
    this.internalErrors += 1;
  }
}
