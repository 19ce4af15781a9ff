import type { CallTarget } from "../../call/call-contract.ts";
import { type AccessStep, explainTool } from "../../policy/decide-access.ts";
import type { ConsentRule } from "../../policy/decide-consent.ts";
import type { ToolJudge } from "../rights/tool-judge.ts";
import type { LocatedTool } from "./tool-resolver.ts";

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
  /** Names that were probably meant, in the spelling of the question; only when no such tool is offered. */
  readonly suggestions?: readonly string[];
  /** What settles the question of consent; absent when an earlier step says no. */
  readonly consent?: ConsentRule;
}

export interface ExplainParts {
  readonly judge: ToolJudge;
  /** Names that were probably meant; looked for only when no such tool is offered. */
  readonly suggestions: () => readonly string[];
}

/** Explains the access to a tool of a server; `subject` is undefined for a tool that no server has. */
export function explainAccess(
  subject: LocatedTool | undefined,
  { judge, suggestions }: ExplainParts,
): AccessReport {
  const { agent } = judge.rights;
  if (subject === undefined)
    return {
      agent,
      server: undefined,
      tool: undefined,
      steps: [],
      verdict: "unknown",
      suggestions: suggestions(),
    };
  const { server, toolName, tool } = subject;
  const steps = explainTool(judge.facts(server, toolName, tool));
  const report = { agent, server: server.config.name, tool: toolName, steps };
  const refusal = steps.find(({ passes }) => !passes);
  // The name of a tool that the entry filters out may be a misspelling of one that it offers.
  if (refusal?.code === "tool_unknown")
    return { ...report, verdict: "denied", suggestions: suggestions() };
  if (refusal !== undefined) return { ...report, verdict: "denied" };
  if (tool === undefined) return { ...report, verdict: "unknown", suggestions: suggestions() };
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
