import { errorTable } from "../../../errors/error-codes.ts";
import type { McpHost } from "../../../host/host.ts";
import type { LaunchQuestion } from "../../../human/launch-question.ts";
import { ownCommand } from "../../../text/own-command.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { describeLaunch } from "../../human/describe-launch.ts";
import { approvedBy, askForApproval, canAsk } from "../../steps/approve-launch.ts";
import { requireServer } from "../../steps/connect-server.ts";
import { requireStore, withWholeHost } from "../../steps/open-host.ts";
import { reviewTools } from "../../steps/review-tools.ts";
import { addExamples } from "../../words/examples.ts";

interface ApproveCommand {
  readonly server: string;
  /** Of a question that was printed before: approves without asking, if nothing has changed since. */
  readonly identity: string | undefined;
  readonly revoke: boolean;
  /** Shows tools that changed from beginning to end; a launch is shown so anyway. */
  readonly all: boolean;
}

/** The exit code when nothing was approved. */
const unapproved = errorTable.not_approved.exit;

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    {
      says: "look at what it starts, and answer",
      line: "plugboard approve notes",
      exitCode: unapproved,
    },
    { says: "take the approval back", line: "plugboard approve notes --revoke" },
  ]);
  command
    .description(
      "Shows what a server of a project would start, and asks whether it may. A change of its entry,\n" +
        "its folder or the file behind its command asks again. Of a server that may start it shows the\n" +
        "tools whose definition changed. Without a terminal it only shows, and ends with 6.",
    )
    .argument("<server>", "its name in plugboard list")
    .option("--identity <hash>", "approve without asking, if it is still what was shown with this")
    .option("--all", "show what changed from beginning to end, however long it is")
    .option("--revoke", "take the approval back")
    .action((server: string, options: { identity?: string; revoke?: boolean; all?: boolean }) => {
      const { identity, revoke = false, all = false } = options;
      return execute((context) => runApprove(context, { server, identity, revoke, all }));
    });
};

/**
 * `plugboard approve`: shows what a server of a project would start, and lets it. Without a person at a
 * terminal it only shows, and says how to approve exactly that.
 */
async function runApprove(context: CommandContext, command: ApproveCommand): Promise<number> {
  return await withWholeHost(context, async (host) => {
    const { server: name, identity, revoke, all } = command;
    requireStore(context, host);
    requireServer(context, host, name);
    if (revoke) return await takeBack(context, host, name);
    const question = await host.approvalQuestion(name);
    // An entry that waits to replace the server must not hide what of the server waits for a look.
    const isOfTool = identity !== undefined && identity !== question?.launchId;
    const hasWaitingTools = host.server(name).quarantined.length > 0;
    if (question === undefined || (isOfTool && hasWaitingTools))
      return await reviewTools(context, host, { name, identity, isWhole: all });
    if (identity !== undefined) await host.approve(name, { launchId: identity, by: approvedBy });
    else if (!canAsk(context)) return showOnly(context, name, question);
    else if (!(await askForApproval(context, host, name))) {
      context.notice(`"${name}" stays unapproved.`);
      return unapproved;
    }
    context.answer(
      { name, approved: true },
      `✓ "${name}" is approved, as long as nothing of this changes.`,
    );
    return 0;
  });
}

async function takeBack(context: CommandContext, host: McpHost, name: string): Promise<number> {
  const { layer } = host.server(name).provenance;
  await host.revokeApproval(name);
  const isAsked = (await host.approvalQuestion(name)) !== undefined;
  const text = isAsked
    ? `✓ "${name}" is no longer approved.`
    : `"${name}" is of your own configuration (${layer}) and needs no approval.`;
  context.answer({ name, approved: !isAsked }, text);
  return 0;
}

function showOnly(context: CommandContext, name: string, question: LaunchQuestion): number {
  const { options, terminal, standpoint } = context;
  if (options.json === true) terminal.json({ name, approved: false, question });
  else {
    for (const line of describeLaunch(question, standpoint)) terminal.line(line);
    const command = ownCommand(
      "approve",
      name,
      ["--identity", question.launchId],
      standpoint.program,
    );
    terminal.line(`To approve exactly this: ${command}`);
  }
  return unapproved;
}
