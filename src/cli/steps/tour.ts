import type { Outcome } from "../../call/outcome.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { McpHost } from "../../host/host.ts";
import type { Session } from "../../session/session.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { CommandContext } from "../context/command-context.ts";
import { createHumanAt } from "../human/terminal-human.ts";
import { formatElapsed } from "../output/duration.ts";
import { outcomeFailure } from "../output/outcome-error.ts";
import { canAsk } from "./approve-launch.ts";
import { openAttended, openUnattended } from "./cli-session.ts";
import { ProgressLine } from "./progress-line.ts";

interface TourCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What a line says of the result; the text itself unless given. */
  readonly describe?: (outcome: Outcome) => string;
}

const steps = 3;

/** One call for each thing worth seeing: an answer, progress, and a call that a person has to allow. */
const tourCalls: readonly TourCall[] = [
  {
    tool: "add",
    args: { a: 2, b: 3 },
    describe: ({ text }) => `${text}  (only reads, so nobody is asked)`,
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

/** Makes the demo calls as an agent would, and tells what becomes of each. */
export async function runTour(context: CommandContext, host: McpHost): Promise<TourReport> {
  const progress = new ProgressLine(context, { plainLines: false });
  const session = openTourSession(context, host, progress);
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
    const text = error === undefined ? describe(outcome) : describeFailure(context, error);
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

/** Whoever sits at a terminal is asked, as the person behind an agent would be. */
function openTourSession(context: CommandContext, host: McpHost, progress: ProgressLine): Session {
  if (!canAsk(context)) return openUnattended(host);
  const { dialogue, standpoint } = context;
  const uncovered = {
    ...dialogue,
    note: (text: string) => {
      // What is drawn there would cover the question.
      progress.stop();
      dialogue.note(text);
    },
  };
  return openAttended(host, createHumanAt(uncovered, standpoint));
}

function describeFailure(context: CommandContext, { code, message }: McpError): string {
  if (code !== "consent_denied") return `failed: ${message}`;
  return canAsk(context)
    ? "not called: you did not allow it"
    : "not called: it may destroy something, and nobody is here to allow it";
}
