import type { ListedTool } from "../protocol/protocol-client.ts";

/** One tool of one server as the catalog knows it, before any session gives it a public name. */
export interface CatalogTool {
  readonly serverName: string;
  /** The name on the server: what goes over the wire. */
  readonly originalName: string;
  readonly title: string | undefined;
  readonly description: string;
  /** As the server sent it; `{}` when it sent none. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
  /** The server's claims about the tool, never trusted by themselves. */
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly icons: unknown;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  /** Why calls are refused: the definition was not read. */
  readonly refusal?: string | undefined;
  /** `false`: registered by hand from a schema; there may be no server behind it. */
  readonly isLive: boolean;
  /** A way to its resources or prompts: consent to one of them is consent to all. */
  readonly isContent?: true;
  /** Exactly what the server listed: what pins and grants are bound to. */
  readonly listed: ListedTool;
}

export function claims(
  tool: Pick<CatalogTool, "annotations">,
  hint: "readOnlyHint" | "destructiveHint" | "idempotentHint",
): boolean {
  return tool.annotations[hint] === true;
}
