import { errorTable } from "../errors/error-codes.ts";
import { createError } from "../errors/families.ts";
import type { McpHost } from "../host/host.ts";
import type { QuarantinedTool } from "../host/pins.ts";
import { neutralizeLine } from "../text/neutralize.ts";
import { ownCommand } from "../text/own-command.ts";
import { answersYes, canAsk } from "./approve-launch.ts";
import type { CommandContext } from "./command-context.ts";

export interface ReviewedServer {
  readonly name: string;
  /** Of one definition that was shown before: accepts it without asking, if it is still that. */
  readonly identity: string | undefined;
}

/** Shows the tools of a server that are not what they were, one by one, and accepts those a person agrees to. */
export async function reviewTools(
  context: CommandContext,
  host: McpHost,
  { name, identity }: ReviewedServer,
): Promise<number> {
  const { terminal, options } = context;
  const held = await host.pins.list(name);
  if (held.length === 0) {
    context.answer({ name, approved: true }, `"${neutralizeLine(name)}" needs no approval.`);
    return 0;
  }
  const waiting = held.filter(
    ({ fingerprint }) => identity === undefined || fingerprint === identity,
  );
  if (waiting.length === 0)
    throw createError("definition_changed", "no tool that waits is what was shown", {
      serverName: name,
      details: { quarantined: held.map(({ tool }) => tool) },
    });
  if (identity === undefined && options.json === true) {
    terminal.json({ name, approved: false, quarantined: waiting });
    return errorTable.definition_changed.exit;
  }
  const accepted = [];
  for (const tool of waiting)
    if (await isAgreed(context, tool, identity !== undefined))
      accepted.push(await host.pins.accept(name, tool.tool, tool.fingerprint));
  const areAll = accepted.length === waiting.length && accepted.every(Boolean);
  if (areAll) context.answer({ name, approved: true }, acceptedText(name, waiting, held.length));
  else if (canAsk(context)) context.notice("What was not accepted stays set aside.");
  return areAll ? 0 : errorTable.definition_changed.exit;
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

async function isAgreed(
  context: CommandContext,
  tool: QuarantinedTool,
  isNamed: boolean,
): Promise<boolean> {
  if (isNamed) return true;
  if (!canAsk(context)) {
    for (const line of describeTool(tool)) context.terminal.line(line);
    const command = ownCommand("approve", tool.server, ["--identity", tool.fingerprint]);
    context.terminal.line(`To accept exactly this: ${command}`);
    return false;
  }
  for (const line of describeTool(tool)) context.terminal.note(line);
  return await answersYes(context);
}

/** Old and new text of everything that differs; a host makes both safe to show. */
function describeTool({ tool, server, reason, changes, findings }: QuarantinedTool) {
  const name = neutralizeLine(tool);
  const headline =
    reason === "changed"
      ? `"${name}" of ${server} is not what it was. Accept it as it is now?`
      : `"${name}" of ${server} is new and reads like an attack on the model. Accept it?`;
  return [
    headline,
    ...changes.flatMap(({ path, before = "(nothing)", after = "(nothing)" }) => [
      `  ${path}`,
      ...(reason === "changed" ? [`    was  ${before}`] : []),
      `    is   ${after}`,
    ]),
    ...findings.map((finding) => `  ⚠ ${neutralizeLine(finding)}`),
  ];
}
