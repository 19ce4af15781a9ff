import type { McpServerFactory } from "@modelcontextprotocol/server";

import { createError } from "../../errors/families.ts";
import type { ListenerLimits } from "../../listener/listener-limits.ts";
import { listenOnLoopback } from "../../listener/loopback-listener.ts";
import { createHttpHandler } from "../serve/serve-http.ts";
import { createRestHandler } from "../serve/serve-rest.ts";
import { createSseHandler } from "../serve/serve-sse.ts";
import type { ServedConnection, ServedEra } from "../serve/serve-transport.ts";
import type { ServedHandler } from "../serve/served-handler.ts";
import { type AuthorizationServer, TestAuthorizationServer } from "./authorization-server.ts";
import { type ArrivedRequest, ArrivedRequests } from "./oauth-answer.ts";
import { TokenGuard } from "./token-guard.ts";

/** Every option has the value of a correct server of today as its default. */
export interface ServeProtectedOptions {
  /** Whose tokens are taken. */
  readonly authorization: AuthorizationServer;
  /** `http-post` is streamable HTTP that takes nothing but POST. Default `http`. */
  readonly kind?: "http" | "http-post" | "sse" | "rest" | undefined;
  /** For `http` and `http-post`. */
  readonly era?: ServedEra | undefined;
  /** For `http`: one server per `Mcp-Session-Id`, for 2025 clients. Default false. */
  readonly sessions?: boolean | undefined;
  /** What every token must have; challenges and metadata name them. Default: no scope is needed. */
  readonly scopes?: readonly string[] | undefined;
  /** What calls of single tools need beyond that: 403 `insufficient_scope` otherwise. */
  readonly toolScopes?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * How the metadata (RFC 9728) is found. `header` (the default): the challenge names it, and it lies
   * at the well-known place of the address; `header-only`: elsewhere; `well-known` and `root`: at the
   * well-known place of the address or of the origin, and no challenge names it; `none`: nowhere, and
   * the authorization server answers at this origin, as MCP 2025-03-26 had it.
   */
  readonly metadata?: "header" | "header-only" | "well-known" | "root" | "none" | undefined;
  /** An access token expires after so many tool calls. Default: only with time. */
  readonly expireEvery?: number | undefined;
  /** The default 0 lets the system choose. */
  readonly port?: number | undefined;
  readonly limits?: Partial<ListenerLimits> | undefined;
}

export interface ProtectedServer extends ServedConnection, AsyncDisposable {
  /** What clients are given, and the resource that tokens must be for. */
  readonly url: string;
  readonly port: number;
  /** Everything that arrived, oldest first, with its `authorization` header. */
  readonly requests: readonly ArrivedRequest[];
  /** From now on only tokens of that server are taken, and the metadata names it. */
  moveTo(authorization: AuthorizationServer): void;
}

/**
 * Serves the factory on 127.0.0.1 to those who bring a token of the authorization server: for this
 * very resource, not expired, with the scopes needed, and with a proof where the token is bound to a key.
 */
export async function serveProtected(
  factory: McpServerFactory,
  options: ServeProtectedOptions,
): Promise<ProtectedServer> {
  const { port, limits } = options;
  const handler = createHandler(factory, options);
  const requests = new ArrivedRequests();
  const [path = ""] = handler.paths;
  const guard = new TokenGuard(path, {
    ...options,
    authorization: startedServer(options.authorization),
  });
  const listener = await listenOnLoopback({
    port,
    limits,
    fetch: (request) =>
      requests.answer(request, async (arrived) =>
        handler.paths.includes(arrived.path)
          ? await guard.admit(request, arrived, () => handler.fetch(request))
          : await guard.answerElsewhere(request, arrived),
      ),
  });
  const close = async (): Promise<void> => {
    guard.close();
    await handler.close();
    await listener.close();
  };
  return {
    url: `${listener.url}${path}`,
    port: listener.port,
    get requests() {
      return requests.all;
    },
    moveTo: (authorization) => guard.moveTo(startedServer(authorization)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function createHandler(factory: McpServerFactory, options: ServeProtectedOptions): ServedHandler {
  const { kind = "http", era } = options;
  switch (kind) {
    case "http":
      return createHttpHandler(factory, options);
    case "http-post":
      return postOnly(createHttpHandler(factory, { era }));
    case "sse":
      return createSseHandler(factory, {});
    case "rest":
      return createRestHandler(factory, {});
  }
}

function postOnly(handler: ServedHandler): ServedHandler {
  const refusal = { status: 405, headers: { allow: "POST" } } as const;
  return {
    ...handler,
    fetch: (request) =>
      request.method === "POST" ? handler.fetch(request) : new Response(null, refusal),
  };
}

function startedServer(authorization: AuthorizationServer): TestAuthorizationServer {
  if (authorization instanceof TestAuthorizationServer) return authorization;
  throw createError(
    "config_invalid",
    "`authorization` must be a server of startAuthorizationServer().",
  );
}
