import { TimeSlice } from "../../async/time-slice.ts";
import { errorTable } from "../../errors/error-codes.ts";
import { createError } from "../../errors/families.ts";
import type { McpHost } from "../../host/host.ts";
import type { QuarantinedTool } from "../../pins/pins.ts";
import { ownCommand } from "../../text/own-command.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { CommandContext } from "../context/command-context.ts";
import { canAsk } from "./approve-launch.ts";
import { answersYes, askLine } from "./ask-line.ts";

export interface ReviewedServer {
  readonly name: string;
  /** Of one definition that was shown before: accepts it without asking, if it is still that. */
  readonly identity: string | undefined;
  /** Shows every difference from its beginning to its end, however long it is. */
  readonly isWhole: boolean;
}

/** Shows the tools of a server that are not what they were, one by one, and accepts those a person agrees to. */
export async function reviewTools(
  context: CommandContext,
  host: McpHost,
  { name, identity, isWhole }: ReviewedServer,
): Promise<number> {
  const held = await host.pins.list(name);
  if (held.length === 0) {
    context.answer({ name, approved: true }, `"${neutralizeLine(name)}" needs no approval.`);
    return 0;
  }
  if (identity !== undefined) return await acceptShown(context, host, { name, identity, held });
  const waiting = isWhole ? await showAll(host, held) : held;
  if (context.options.json === true) {
    context.terminal.json({ name, approved: false, quarantined: waiting });
    return errorTable.definition_changed.exit;
  }
  let acceptedCount = 0;
  for (const tool of waiting) if (await review(context, host, tool)) acceptedCount += 1;
  if (acceptedCount === held.length) {
    context.answer({ name, approved: true }, acceptedText(name, held, held.length));
    return 0;
  }
  if (canAsk(context)) context.notice("What was not accepted stays set aside.");
  return errorTable.definition_changed.exit;
}

/** Without a question: whoever has the identity of a definition was shown all of it. */
async function acceptShown(
  context: CommandContext,
  host: McpHost,
  shown: {
    readonly name: string;
    readonly identity: string;
    readonly held: readonly QuarantinedTool[];
  },
): Promise<number> {
  const { name, identity, held } = shown;
  const accepted: QuarantinedTool[] = [];
  for (const tool of held)
    if (await host.pins.accept(name, tool.tool, identity)) accepted.push(tool);
  if (accepted.length === 0)
    throw createError("definition_changed", "no tool that waits is what was shown", {
      serverName: name,
      details: { quarantined: held.map(({ tool }) => tool) },
    });
  context.answer({ name, approved: true }, acceptedText(name, accepted, held.length));
  return 0;
}

async function showAll(
  host: McpHost,
  held: readonly QuarantinedTool[],
): Promise<readonly QuarantinedTool[]> {
  const shown = [];
  for (const { server, tool } of held) shown.push((await host.pins.show(server, tool)) ?? []);
  return shown.flat();
}

/** Whoever accepts one of several must not take it for all of them. */
function acceptedText(
  name: string,
  accepted: readonly QuarantinedTool[],
  heldCount: number,
): string {
  const server = `"${neutralizeLine(name)}"`;
  if (accepted.length === heldCount)
    return `✓ the tools of ${server} are accepted as they are now.`;
  const tools = accepted.map(({ tool }) => `"${neutralizeLine(tool)}"`).join(", ");
  const left = heldCount - accepted.length;
  return `✓ ${tools} of ${server} is accepted as it is now; ${left} more ${left === 1 ? "waits" : "wait"}.`;
}

/** Whether a person accepts it; without one it is only shown, with the command that goes on. */
async function review(
  context: CommandContext,
  host: McpHost,
  tool: QuarantinedTool,
): Promise<boolean> {
  const { terminal, standpoint } = context;
  const { server, fingerprint } = tool;
  if (canAsk(context)) {
    await writeLines(describeTool(tool), (line) => terminal.note(line));
    if (fingerprint === undefined) return await reviewWhole(context, host, tool);
    return (await answersYes(context)) && (await host.pins.accept(server, tool.tool, fingerprint));
  }
  await writeLines(describeTool(tool), (line) => terminal.line(line));
  const [words, options] =
    fingerprint === undefined
      ? ["It can be accepted once all of it was shown", ["--all"]]
      : ["To accept exactly this", ["--identity", fingerprint]];
  terminal.line(`${words}: ${ownCommand("approve", server, options, standpoint.program)}`);
  return false;
}

/** Nobody is asked to accept what is cut, only whether to show all of it. */
async function reviewWhole(
  context: CommandContext,
  host: McpHost,
  { server, tool }: QuarantinedTool,
): Promise<boolean> {
  const answer = await askLine(context, "Show all of it? [a/N] ");
  if (!/^a(?:ll)?$/i.test(answer)) return false;
  const whole = await host.pins.show(server, tool);
  return whole !== undefined && (await review(context, host, whole));
}

/** A definition may have thousands of lines, and what runs beside this command goes on. */
async function writeLines(lines: readonly string[], write: (line: string) => void): Promise<void> {
  const slice = new TimeSlice();
  for (const line of lines) {
    if (slice.isOver) await slice.next();
    write(line);
  }
}

/** Old and new text of everything that differs; a host makes both safe to show. */
function describeTool(quarantined: QuarantinedTool): readonly string[] {
  const { tool, server, changes, findings, isCompared } = quarantined;
  return [
    headlineOf(quarantined, `"${neutralizeLine(tool)}" of ${server}`),
    ...changes.flatMap(({ path, before = "(nothing)", after = "(nothing)", sameChars }) => [
      `  ${path}`,
      ...(isCompared ? [`    was  ${before}`] : []),
      `    is   ${after}`,
      ...(sameChars > 0 ? [`         (${sameChars} more characters are the same)`] : []),
    ]),
    ...omissionsOf(quarantined).map((omission) => `  ⚠ not shown: ${omission}`),
    ...findings.map((finding) => `  ⚠ ${neutralizeLine(finding)}`),
  ];
}

function headlineOf({ reason, isCompared }: QuarantinedTool, subject: string): string {
  if (reason === "suspect")
    return `${subject} is new and reads like an attack on the model. Accept it?`;
  const before = isCompared ? "" : " What it was is too long to be kept; this is all it is now.";
  return `${subject} is not what it was.${before} Accept it as it is now?`;
}

function omissionsOf({ omittedChanges, omittedChars }: QuarantinedTool): readonly string[] {
  return [
    ...(omittedChars > 0 ? [`${omittedChars} characters of this`] : []),
    ...(omittedChanges > 0 ? [`${omittedChanges} more changes`] : []),
  ];
}
