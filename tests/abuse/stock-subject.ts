import {
  Client,
  ProtocolError,
  SdkError,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import type {
  AttackedCall,
  CallEnd,
  RunningEntries,
  RunningEntry,
  ServerEntries,
  ServerEntry,
  ServerView,
  Subject,
} from "./subject.ts";

/**
 * The official client as its documentation shows it, one for each server, under the same attacks.
 * It never reconnects by itself, so a new one is made for the call after an end.
 */
export function openStock(servers: RunningEntries): Subject {
  return new StockSubject(servers);
}

/** What it can be compared in: over HTTP that is the one dialect both have. */
export function entriesForStock(servers: ServerEntries): ServerEntries {
  const isKnown = ({ http }: ServerEntry): boolean =>
    http === undefined || http.transport === "streamable-http";
  return Object.fromEntries(Object.entries(servers).filter(([, entry]) => isKnown(entry)));
}

class StockSubject implements Subject {
  readonly counts = {
    doubleEnds: 0,
    internalErrors: 0,
    dropped: 0,
    overRate: 0,
    serverLogs: 0,
    warnings: 0,
    loggedWarnings: 0,
  };
  readonly #servers: RunningEntries;
  readonly #clients = new Map<string, Promise<Client>>();

  constructor(servers: RunningEntries) {
    this.#servers = servers;
  }

  async call(call: AttackedCall): Promise<CallEnd> {
    const { server, tool, args, timeoutMs, signal, onProgress } = call;
    const startedAt = performance.now();
    const tookMs = () => performance.now() - startedAt;
    try {
      const client = await this.#client(server);
      const { content, structuredContent } = await client.callTool(
        { name: tool, arguments: args },
        {
          timeout: timeoutMs,
          resetTimeoutOnProgress: true,
          ...(signal === undefined ? {} : { signal }),
          ...(onProgress === undefined ? {} : { onprogress: onProgress }),
        },
      );
      const [first] = content;
      const text = first?.type === "text" ? first.text : "";
      return {
        ok: true,
        text,
        isCut: false,
        structured: structuredContent,
        code: "",
        message: "",
        errorData: undefined,
        details: {},
        tookMs: tookMs(),
      };
    } catch (error) {
      const errorData = error instanceof ProtocolError ? error.data : undefined;
      return {
        ok: false,
        text: "",
        isCut: false,
        structured: undefined,
        code: codeOf(error),
        message: error instanceof Error ? error.message : "",
        errorData,
        details: {},
        tookMs: tookMs(),
      };
    }
  }

  async disconnect(server: string): Promise<void> {
    // One that could not be opened has nothing to close.
    const client = await this.#clients.get(server)?.catch(() => undefined);
    this.#clients.delete(server);
    await client?.close();
  }

  /** It keeps none. */
  logs(): readonly string[] {
    return [];
  }

  texts(): readonly string[] {
    return [];
  }

  view(): ServerView {
    return { state: "", tools: 0, pid: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#clients.keys()].map((server) => this.disconnect(server)));
  }

  #client(server: string): Promise<Client> {
    const known = this.#clients.get(server);
    if (known !== undefined) return known;
    const opening = this.#open(server);
    this.#clients.set(server, opening);
    opening.catch(() => this.#clients.delete(server));
    return opening;
  }

  async #open(server: string): Promise<Client> {
    const entry = this.#servers[server];
    if (entry === undefined) throw new Error(`there is no server ${server}`);
    const client = new Client({ name: "abuse", version: "1.0.0" });
    client.onclose = () => void this.#clients.delete(server);
    client.onerror = () => void (this.counts.dropped += 1);
    await client.connect(transportTo(entry));
    return client;
  }
}

function transportTo(entry: RunningEntry): Transport {
  if ("url" in entry)
    return new StreamableHTTPClientTransport(new URL(entry.url), {
      requestInit: { headers: { ...entry.headers } },
    });
  const { command, args, cwd } = entry;
  return new StdioClientTransport({
    command,
    args: [...args],
    ...(cwd === undefined ? {} : { cwd }),
    stderr: "ignore",
  });
}

function codeOf(error: unknown): string {
  if (error instanceof SdkError) return error.code;
  return error instanceof Error ? error.name : "unknown";
}
