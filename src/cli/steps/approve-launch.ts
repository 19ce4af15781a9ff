import type { McpHost, ServerStatus } from "../../host/host.ts";
import type { CommandContext } from "../context/command-context.ts";
import { createHumanAt } from "../human/terminal-human.ts";
import { cancelledBeforehand } from "./ask-line.ts";

/** Who approved, in the record of approvals. */
export const approvedBy = "cli";

/**
 * Asks whether a server that a project brought along may start, where there is someone to ask. Without
 * an answer it stays unapproved, and whatever needs it fails as `not_approved`.
 */
export async function offerApproval(
  context: CommandContext,
  host: Pick<McpHost, "requestApproval">,
  { name, state }: ServerStatus,
): Promise<void> {
  if (state === "pending" && canAsk(context)) await askForApproval(context, host, name);
}

export function canAsk({ terminal, options }: CommandContext): boolean {
  return terminal.isInteractive && options.json !== true;
}

/** Puts the host's question on the terminal; whether the answer was yes. */
export async function askForApproval(
  context: CommandContext,
  host: Pick<McpHost, "requestApproval">,
  name: string,
): Promise<boolean> {
  const { signal } = context;
  const human = createHumanAt(context.dialogue, context.standpoint);
  try {
    return await host.requestApproval(name, { human, by: approvedBy, signal });
  } catch (error) {
    throw signal.aborted ? cancelledBeforehand() : error;
  }
}
