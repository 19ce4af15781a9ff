import {
  isErrorCode,
  type ErrorCode,
  errorTable,
  type ErrorFamily,
} from "../../errors/error-codes.ts";
import { type CauseKind, findCause } from "../../transport/reading/output-cause.ts";
import type { ServerStatus } from "../host.ts";
import type { CheckId } from "./check-texts.ts";
import { type DoctorParts, type Found, ok, someOf, warning } from "./check.ts";

/** A check of what a server offers and what became of its calls. */
interface ToolCheck {
  readonly id: CheckId;
  /** Whether the server has to be connected for it. */
  readonly isLive: boolean;
  readonly run: (
    status: ServerStatus,
    parts: DoctorParts,
  ) => Found | undefined | Promise<Found | undefined>;
}

export const toolChecks: readonly ToolCheck[] = [
  { id: "tools", isLive: true, run: checkTools },
  { id: "offered", isLive: true, run: checkOffered },
  { id: "calls", isLive: false, run: checkCalls },
  { id: "log", isLive: false, run: checkLog },
];

/** Looks at the list of a server that is connected. */
function checkTools({ toolCount = 0, problems, config }: ServerStatus): Found {
  const [first] = problems;
  const hasFilter = config.enabledTools !== undefined || config.disabledTools.length > 0;
  if (first !== undefined) {
    const name = first.toolName === null ? "" : `${first.toolName}: `;
    const more = problems.length === 1 ? "" : `, and ${problems.length - 1} more`;
    return warning(
      `${name}${first.text}${more}`,
      hasFilter
        ? 'correct "enabledTools" and "disabledTools", or the server'
        : "correct the server",
    );
  }
  if (toolCount > 0) return ok(toolsText(toolCount));
  return hasFilter
    ? warning("the entry leaves all of its tools out", 'correct "enabledTools" and "disabledTools"')
    : warning("it lists none");
}

/** Looks for tools that agents do not get, and for agents that get none. */
function checkOffered(status: ServerStatus, { sessions }: DoctorParts): Found | undefined {
  const { name, tools, quarantined, suspect, toolCount = 0 } = status;
  if (toolCount === 0) return undefined;
  if (quarantined.length > 0) {
    const why = quarantined.length > suspect.length ? "changed" : "read like an attack";
    return warning(
      `held back, because they ${why}: ${someOf(quarantined)}`,
      "look at them, and accept them: plugboard approve <server>",
    );
  }
  for (const session of sessions()) {
    if (session.tools().some(({ serverName }) => serverName === name)) continue;
    const [tool] = tools;
    if (tool === undefined) continue;
    const { steps } = session.why({ server: name, tool: tool.name });
    const refusal = steps.find(({ passes }) => !passes);
    if (refusal !== undefined)
      return warning(
        `agent "${session.agent}" is offered none of them (${refusal.rule}): ${refusal.reason}`,
        "give its session a level and capabilities that reach the server",
      );
  }
  return ok(`${toolsText(tools.length)} of ${toolCount}`);
}

function toolsText(count: number): string {
  return `${count} ${count === 1 ? "tool" : "tools"}`;
}

const recentCalls = 20;

const fixes: Partial<Record<ErrorCode | ErrorFamily, string>> = {
  invalid_arguments:
    "compare the arguments with the schema of the tool: plugboard tools <server> --schema",
  tool_error: "the tool itself reported it: look at its arguments, and at what the server printed",
  timeout: 'raise "timeout" of the entry, or ask for less in one call',
  auth: "the sign-in is no longer valid: put a valid token into the entry",
  permission: "ask for the rule that refused it: plugboard why <agent> <server>.<tool>",
  connection: "the server ended or was lost: plugboard test <server>",
};

/** Reads how the last calls ended in the audit trail. */
async function checkCalls(
  { name }: ServerStatus,
  { host }: DoctorParts,
): Promise<Found | undefined> {
  const rows = await host.audit.query({ type: "call", server: name, limit: recentCalls });
  const [last] = rows;
  if (last === undefined) return undefined;
  const failed = rows.filter(({ code }) => code !== "ok");
  if (failed.length === 0) return ok(`${rows.length} of the last ${rows.length}`);
  const codes = [...new Set(failed.map(({ code = "?" }) => code))];
  const counted = codes.map(
    (code) => `${failed.filter((row) => row.code === code).length} × ${code}`,
  );
  const evidence = `${failed.length} of the last ${rows.length} failed: ${someOf(counted)}`;
  const [newest] = failed;
  // One that worked afterwards shows that the reason is gone.
  if (last.code === "ok") return ok(`${evidence}; the newest succeeded`);
  return warning(`${evidence}; the newest is ${newest?.tool ?? "a call"}`, fixFor(newest?.code));
}

function fixFor(code: string | undefined): string | undefined {
  if (!isErrorCode(code)) return undefined;
  return fixes[code] ?? fixes[errorTable[code].family];
}

/** Kinds of output that tell of an error; others are greetings and the like. */
const isError: ReadonlySet<CauseKind> = new Set([
  "error",
  "module-missing",
  "connection-refused",
  "host-unknown",
  "variable-missing",
  "wrong-node",
]);

/** Looks for an error in what the server wrote to stderr last. */
function checkLog({ name }: ServerStatus, { host }: DoctorParts): Found | undefined {
  const lines = host.logs(name);
  if (lines.length === 0) return undefined;
  const cause = findCause(lines);
  if (cause === undefined || !isError.has(cause.kind))
    return ok(`${lines.length === 1 ? "1 line" : `${lines.length} lines`}, none of them an error`);
  return warning(cause.summary, `${cause.advice}; all that it printed: plugboard logs <server>`);
}
