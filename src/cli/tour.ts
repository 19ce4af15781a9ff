import type { Outcome } from "../call/outcome.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { McpHost } from "../host/host.ts";
import { neutralizeLine } from "../text/neutralize.ts";
import { openUnattended } from "./cli-session.ts";
import type { CommandContext } from "./command-context.ts";
import { formatElapsed } from "./duration.ts";
import { outcomeFailure } from "./outcome-error.ts";
import { ProgressLine } from "./progress-line.ts";

interface TourCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What a line says of the result; the text itself unless given. */
  readonly describe?: (outcome: Outcome) => string;
}

const steps = 3;

/** One call for each thing worth seeing: an answer, progress, and a call that is not let through. */
const tourCalls: readonly TourCall[] = [
  {
    tool: "add",
    args: { a: 2, b: 3 },
    describe: ({ text }) => `${text}  (demo entry sets skipReadOnlyPrompts)`,
  },
  {
    tool: "slow",
    args: { steps },
    describe: ({ durationMs }) =>
      `${"█".repeat(steps)} ${steps}/${steps}   ${formatElapsed(durationMs)}`,
  },
  { tool: "delete_note", args: { id: "n1" } },
];

/** Where the lines of `up` tell what came of it. */
export const resultColumn = 60;

/** A call of the tour in `--json` output. */
export interface TourObject {
  readonly server: string;
  readonly tool: string;
  readonly ok: boolean;
  readonly text: string;
  readonly code?: string;
}

export interface TourReport {
  readonly calls: readonly TourObject[];
  /** What went wrong other than the call that has to be stopped. */
  readonly failure: McpError | undefined;
}

/** Makes the demo calls as an agent without a person behind it would, and tells what becomes of each. */
export async function runTour(context: CommandContext, host: McpHost): Promise<TourReport> {
  const session = openUnattended(host);
  const progress = new ProgressLine(context, { plainLines: false });
  const calls: TourObject[] = [];
  let failure: McpError | undefined;
  for (const { tool, args, describe = ({ text }: Outcome) => text } of tourCalls) {
    const typed = `demo.${tool} ${JSON.stringify(args)}`;
    progress.phase(`calling demo.${tool}`);
    const outcome = await session.call(`mcp__demo__${tool}`, args, {
      signal: context.signal,
      onProgress: (report) => progress.update(report),
    });
    progress.stop();
    if (context.signal.aborted) break;
    const error = outcome.ok ? undefined : outcomeFailure(outcome);
    if (error !== undefined && error.code !== "consent_denied") failure ??= error;
    const text = error === undefined ? describe(outcome) : describeFailure(error);
    if (!context.options.json)
      context.terminal.line(`→ ${typed}`.padEnd(resultColumn) + neutralizeLine(text));
    calls.push({
      server: "demo",
      tool,
      ok: outcome.ok,
      text: error === undefined ? outcome.text : error.message,
      ...(error === undefined ? {} : { code: error.code }),
    });
  }
  return { calls, failure };
}

function describeFailure({ code, message, details }: McpError): string {
  if (code !== "consent_denied") return `failed: ${message}`;
  return `blocked: ${details["isDestructive"] === true ? "destructive, " : ""}needs approval`;
}
