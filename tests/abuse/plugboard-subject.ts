import type { Logger, McpHost, Outcome, Session } from "../../src/index.ts";
import { createBareHost, type HostOptions, type Product } from "./product.ts";
import type {
  RunningEntries,
  AttackedCall,
  CallEnd,
  ServerView,
  Subject,
  SubjectCounts,
} from "./subject.ts";

export async function openPlugboard(
  product: Product,
  servers: RunningEntries,
  options: Pick<HostOptions, "limits" | "human" | "roots"> = {},
): Promise<Subject> {
  const counts = new HostCounts();
  const host = await createBareHost(product, { ...options, servers, logger: counts });
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

  logs(server: string): readonly string[] {
    return this.#host.logs(server);
  }

  texts(server: string): readonly string[] {
    const { lastError } = this.#host.server(server);
    return [...this.logs(server), ...textsIn(lastError?.toJSON()), ...this.#counts.logged];
  }

  view(server: string): ServerView {
    const { state, toolCount = 0, pid } = this.#host.server(server);
    return { state, tools: toolCount, pid };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.close();
  }
}

function callEnd(outcome: Outcome): CallEnd {
  const { ok, text, truncated, structured, durationMs } = outcome;
  return {
    ok,
    text,
    isCut: truncated,
    structured,
    code: ok ? "" : outcome.error.code,
    message: ok ? "" : outcome.error.message,
    errorData: ok ? undefined : outcome.error.rpc?.data,
    details: ok ? {} : { ...outcome.error.details, retryable: outcome.error.retryable },
    tookMs: durationMs,
  };
}

/** Every text in a value, however deep. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

/** So many of the texts a host logs are kept: floods are counted elsewhere. */
const maxLogged = 10_000;

type Fields = Readonly<Record<string, unknown>>;

/** Counts what a host announces and what it only logs. */
export class HostCounts implements SubjectCounts, Logger {
  doubleEnds = 0;
  internalErrors = 0;
  dropped = 0;
  overRate = 0;
  serverLogs = 0;
  warnings = 0;
  loggedWarnings = 0;
  /** What was logged, message and fields alike. */
  readonly logged: string[] = [];
  readonly #announced = new Map<string, number>();
  readonly #ended = new Set<string>();

  watch(host: McpHost): void {
    host.on("call-end", ({ callId }) => {
      if (this.#ended.has(callId)) this.doubleEnds += 1;
      this.#announced.set(callId, (this.#announced.get(callId) ?? 0) + 1);
    });
    host.on("server-log", () => void (this.serverLogs += 1));
    host.on("warning", ({ text }) => {
      this.warnings += 1;
      this.#log(text);
    });
  }

  /** To be told of every call as soon as its caller knows. */
  ended(callId: string, outcome: Outcome): void {
    if (this.#announced.get(callId) !== 1) this.doubleEnds += 1;
    this.#announced.delete(callId);
    this.#ended.add(callId);
    const hasFailedInside = !outcome.ok && outcome.error.message.includes("unexpectedly");
    if (hasFailedInside) this.internalErrors += 1;
  }

  debug(message: string, fields: Fields = {}): void {
    this.dropped += numberIn(fields, "unmatched") + numberIn(fields, "repeated");
    this.overRate += numberIn(fields, "overRate");
    this.#log(message, fields);
  }

  info(message: string, fields?: Fields): void {
    this.#log(message, fields);
  }

  warn(message: string, fields?: Fields): void {
    this.loggedWarnings += 1;
    this.#log(message, fields);
  }

  error(message: string, fields?: Fields): void {
    this.internalErrors += 1;
    this.#log(message, fields);
  }

  #log(message: string, fields: Fields = {}): void {
    if (this.logged.length < maxLogged) this.logged.push(message, ...textsIn(fields));
  }
}

function numberIn(fields: Fields, name: string): number {
  const value = fields[name];
  return typeof value === "number" ? value : 0;
}
