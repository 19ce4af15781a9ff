import type { CallOptions, ToolArguments } from "../call/call-contract.ts";
import type { Outcome } from "../call/outcome.ts";

/** A tool as an agent sees it: a snapshot whose `execute` takes the guarded path like any call. */
export interface McpTool {
  /** The public name: unique in the session and valid for every model provider. */
  readonly name: string;
  readonly originalName: string;
  readonly source: "native" | "mcp";
  /** Undefined for a native tool. */
  readonly serverName: string | undefined;
  readonly title: string | undefined;
  readonly description: string;
  /** As the server sent it; `toProviderSchema` makes it acceptable to model providers. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
  readonly annotations: Readonly<Record<string, unknown>>;
  /** A call would ask a person first. */
  readonly needsConsent: boolean;
  /** Why calls of this tool are refused, when its schema cannot be used. */
  readonly unusable: string | undefined;
  execute(args?: ToolArguments, options?: CallOptions): Promise<Outcome>;
}
