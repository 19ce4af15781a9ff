import type { ServerEntry } from "../../src/index.ts";
import {
  createDemoServer,
  createMemoryServer,
  demoServerEntry,
  serveHttp,
  serveRest,
  serveSse,
} from "../../src/testing/index.ts";
import { recordRequests } from "../fixtures/http/recording-proxy.ts";
import type { RecordedRequest } from "../fixtures/http/scripted-server.ts";

type Era = "legacy" | "modern";

/** The demo server, reached in one particular way. */
export interface Place extends AsyncDisposable {
  readonly server: ServerEntry | ReturnType<typeof createMemoryServer>["transport"];
  /** What came over HTTP, until now. */
  readonly requests?: readonly RecordedRequest[];
}

/** One way to reach a server. */
export interface Way {
  readonly kind: string;
  readonly era: Era;
  /** What the dialect has no words for. */
  readonly lacks?: "progress";
  readonly open: (headers?: Readonly<Record<string, string>>) => Promise<Place>;
}

async function overHttp(
  url: string,
  entry: Omit<ServerEntry, "url">,
  close: () => Promise<void>,
): Promise<Place> {
  const proxy = await recordRequests(url);
  const { pathname, search } = new URL(url);
  return {
    server: { ...entry, url: `${proxy.origin}${pathname}${search}` },
    requests: proxy.requests,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await close();
    },
  };
}

function overStreamable(
  kind: "streamable-http" | "http" | "http-post",
  era: Era,
  sessions = false,
): Way {
  return {
    kind: sessions ? `${kind} with sessions` : kind,
    era,
    async open(headers = {}) {
      const server = await serveHttp(createDemoServer(), { era, sessions });
      return await overHttp(server.url, { transport: kind, headers }, () => server.close());
    },
  };
}

function overSse(
  kind: "sse" | "http",
  name: string,
  options: Parameters<typeof serveSse>[1] = {},
): Way {
  return {
    kind: `${kind} ${name}`,
    era: "legacy",
    async open(headers = {}) {
      const server = await serveSse(createDemoServer(), options);
      return await overHttp(server.url, { transport: kind, headers }, () => server.close());
    },
  };
}

function overRest(kind: "rest" | "http"): Way {
  return {
    kind: kind === "rest" ? "rest" : "http that is REST",
    era: "legacy",
    lacks: "progress",
    async open(headers = {}) {
      const server = await serveRest(createDemoServer());
      return await overHttp(server.url, { transport: kind, headers }, () => server.close());
    },
  };
}

function overStdio(era: Era): Way {
  return {
    kind: "stdio",
    era,
    open: () =>
      Promise.resolve({
        server: demoServerEntry({ era }),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
  };
}

function inMemory(era: Era): Way {
  return {
    kind: "memory",
    era,
    open() {
      const server = createMemoryServer(createDemoServer(), { era });
      return Promise.resolve({
        server: server.transport,
        [Symbol.asyncDispose]: () => server.close(),
      });
    },
  };
}

/** Every kind in every era that it exists in. */
export const ways: readonly Way[] = [
  overStdio("legacy"),
  overStdio("modern"),
  inMemory("legacy"),
  inMemory("modern"),
  overStreamable("streamable-http", "legacy"),
  overStreamable("streamable-http", "legacy", true),
  overStreamable("streamable-http", "modern"),
  overStreamable("http-post", "legacy"),
  overStreamable("http-post", "modern"),
  overSse("sse", "with an announced address"),
  overSse("sse", "with a derived address", { announce: false }),
  overSse("sse", "that answers in the body", { answers: "body" }),
  overRest("rest"),
  overStreamable("http", "legacy"),
  overStreamable("http", "modern"),
  overSse("http", "that is SSE"),
  overRest("http"),
];
