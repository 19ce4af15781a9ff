import type { CallTarget } from "../call/call-path.ts";
import type { CatalogTool } from "../catalog/catalog-tool.ts";
import type { NamedCatalog } from "../catalog/tool-catalog.ts";
import { type AccessStep, explainTool } from "../policy/decide-access.ts";
import type { ConsentRule } from "../policy/decide-consent.ts";
import type { RegisteredServer, ServerRegistry } from "../registry/server-registry.ts";
import type { ToolJudge } from "./tool-judge.ts";

/** Why an agent may or may not call a tool. */
export interface AccessReport {
  readonly agent: string;
  /** Undefined for a native tool, and when there is no such tool as far as is known. */
  readonly server: string | undefined;
  /** The tool's own name. */
  readonly tool: string | undefined;
  /** `ask`: a person would be asked first. */
  readonly verdict: "allowed" | "ask" | "denied" | "unknown";
  /** In the order in which they are asked; all have to pass. */
  readonly steps: readonly AccessStep[];
  /** What settles the question of consent; absent when an earlier step says no. */
  readonly consent?: ConsentRule;
}

export interface ExplainParts {
  readonly judge: ToolJudge;
  readonly registry: ServerRegistry;
  /** All that the session has of servers, also what the host itself offers for one. */
  readonly named: NamedCatalog;
}

interface Subject {
  readonly server: RegisteredServer;
  readonly toolName: string;
  readonly tool: CatalogTool | undefined;
}

/** `name` is a public name, or `server.tool`: also a tool that is filtered out has its reasons. */
export function explainAccess(name: string, parts: ExplainParts): AccessReport {
  const { judge } = parts;
  const { agent } = judge.rights;
  const subject = findSubject(name, parts);
  if (subject === undefined)
    return { agent, server: undefined, tool: undefined, verdict: "unknown", steps: [] };
  const { server, toolName, tool } = subject;
  const steps = explainTool(judge.facts(server, toolName, tool));
  const report = { agent, server: server.config.name, tool: toolName, steps };
  if (steps.some(({ passes }) => !passes)) return { ...report, verdict: "denied" };
  if (tool === undefined) return { ...report, verdict: "unknown" };
  const { consent, denial } = judge.judge(tool);
  if (denial !== undefined) {
    // Every step of its own passes: it is the session this one is a child of that may not.
    const { rule, reason } = denial;
    const outer = { rule, passes: false, reason: `the parent session: ${reason}` };
    return { ...report, verdict: "denied", steps: [...steps, outer] };
  }
  return { ...report, verdict: consent === "ask" ? "ask" : "allowed", consent };
}

/** The program's own tools are a question of consent only. */
export function explainNative(agent: string, { tool, consent }: CallTarget): AccessReport {
  const verdict = consent === "ask" ? "ask" : "allowed";
  return { agent, server: undefined, tool: tool.originalName, verdict, steps: [], consent };
}

function findSubject(name: string, parts: ExplainParts): Subject | undefined {
  const { registry, named } = parts;
  const known = named.byName.get(name)?.tool;
  const owner = known === undefined ? undefined : registry.find(known.serverName);
  if (known !== undefined && owner !== undefined)
    return { server: owner, toolName: known.originalName, tool: known };
  // The longest name first: a server may be called "a" and another one "a.b".
  const server = registry
    .all()
    .filter(({ config }) => name.startsWith(`${config.name}.`))
    .toSorted((one, other) => other.config.name.length - one.config.name.length)[0];
  if (server === undefined) return undefined;
  const serverName = server.config.name;
  const toolName = name.slice(serverName.length + 1);
  const listed = named.tools.find(
    ({ tool }) => tool.serverName === serverName && tool.originalName === toolName,
  );
  return { server, toolName, tool: listed?.tool };
}
