import { errorTable } from "../errors/error-codes.ts";
import type { McpHost } from "../host/host.ts";
import type { QuarantinedTool } from "../host/pins.ts";
import { neutralizeLine } from "../text/neutralize.ts";
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
  const waiting = (await host.pins.list(name)).filter(
    ({ fingerprint }) => identity === undefined || fingerprint === identity,
  );
  if (waiting.length === 0) {
    context.answer({ name, approved: true }, `"${neutralizeLine(name)}" needs no approval.`);
    return 0;
  }
  if (identity === undefined && options.json === true) {
    terminal.json({ name, approved: false, quarantined: waiting });
    return errorTable.definition_changed.exit;
  }
  const accepted = [];
  for (const tool of waiting)
    if (await isAgreed(context, tool, identity !== undefined))
      accepted.push(await host.pins.accept(name, tool.tool, tool.fingerprint));
  const areAll = accepted.length === waiting.length && accepted.every(Boolean);
  const text = `✓ the tools of "${neutralizeLine(name)}" are accepted as they are now.`;
  if (areAll) context.answer({ name, approved: true }, text);
  return areAll ? 0 : errorTable.definition_changed.exit;
}

async function isAgreed(
  context: CommandContext,
  tool: QuarantinedTool,
  isNamed: boolean,
): Promise<boolean> {
  if (isNamed) return true;
  if (!canAsk(context)) {
    for (const line of describeTool(tool)) context.terminal.line(line);
    context.terminal.line(
      `To accept exactly this: plugboard approve ${tool.server} --identity ${tool.fingerprint}`,
    );
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
      `    was  ${before}`,
      `    is   ${after}`,
    ]),
    ...findings.map((finding) => `  ⚠ ${neutralizeLine(finding)}`),
  ];
}
