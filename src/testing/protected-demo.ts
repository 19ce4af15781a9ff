import { startAuthorizationServer } from "./authorization/authorization-server.ts";
import { serveProtected } from "./authorization/serve-protected.ts";
import { createDemoServer } from "./demo-server.ts";
import type { ServedConnection } from "./serve/serve-transport.ts";

export interface ProtectedDemoOptions {
  /** Of the server; the default 0 lets the system choose. */
  readonly port?: number | undefined;
  /** `page` (the default) asks whoever opens the sign-in in a browser; `approve` asks nobody. */
  readonly consent?: "page" | "approve" | undefined;
}

export interface ProtectedDemo extends ServedConnection, AsyncDisposable {
  /** `http://127.0.0.1:<port>/mcp`; it answers 401 until somebody signed in. */
  readonly url: string;
  readonly port: number;
  readonly issuer: string;
}

/**
 * The demo server behind a sign-in, with an authorization server of its own. Every token needs the
 * scope `mcp`; deleting a note needs `notes:delete` beside it.
 */
export async function startProtectedDemo(
  options: ProtectedDemoOptions = {},
): Promise<ProtectedDemo> {
  const { port, consent = "page" } = options;
  const scopes = ["mcp", "notes:delete"];
  const authorization = await startAuthorizationServer({ consent, scopes });
  const toolScopes = { delete_note: ["notes:delete"] };
  const server = await serveProtected(createDemoServer(), {
    authorization,
    port,
    scopes: ["mcp"],
    toolScopes,
  }).catch(async (error: unknown) => {
    await authorization.close();
    throw error;
  });
  const close = async (): Promise<void> => {
    await server.close();
    await authorization.close();
  };
  const { url } = server;
  const { issuer } = authorization;
  return { url, port: server.port, issuer, close, [Symbol.asyncDispose]: close };
}
