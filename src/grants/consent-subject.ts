import { type CatalogTool, claims } from "../catalog/catalog-tool.ts";
import type { ConsentId } from "../config/keys/server-ids.ts";
import { fingerprintOf } from "../pins/tool-fingerprint.ts";

/** One tool of a server, exactly as it was defined when a person said yes to it. */
export interface ToolSubject {
  /** The tool's own name, or `contentName`. */
  readonly toolName: string;
  /** The fingerprint of the definition that the person saw. */
  readonly fingerprint: string;
}

/** What a yes for one session is bound to. */
export interface ConsentSubject extends ToolSubject {
  readonly serverName: string;
  readonly consentId: ConsentId;
  /** Changes when the server was disconnected on purpose. */
  readonly epoch: number;
}

/** What a lasting yes is bound to: one tool of one server for one agent. */
export interface GrantSubject extends ToolSubject {
  readonly agent: string;
  readonly consentId: ConsentId;
}

/**
 * The name under which a server's resources, prompts and their completions stand among allowances and
 * grants: a person consents to all of them at once.
 */
export const contentName = "(content)";

/** A server may change its content at any time, so consent to it is bound to no definition; no tool has this fingerprint. */
export const contentSubject: ToolSubject = { toolName: contentName, fingerprint: "content" };

/** The subject of a question about a tool as it is defined now. */
export function subjectOf(tool: CatalogTool): ToolSubject {
  if (tool.isContent) return contentSubject;
  return { toolName: tool.originalName, fingerprint: fingerprintOf(tool.listed) };
}

/** The subjects of a lasting yes to a whole server: the tools given, and its content. */
export function subjectsOfServer(
  tools: readonly CatalogTool[],
  { includeDestructive }: { readonly includeDestructive: boolean },
): readonly ToolSubject[] {
  const covered = tools.filter((tool) => includeDestructive || !claims(tool, "destructiveHint"));
  return [...covered.map((tool) => subjectOf(tool)), contentSubject];
}
