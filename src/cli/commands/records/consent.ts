import type { ToolOrigin } from "../../../catalog/tool-origin.ts";
import { createError } from "../../../errors/families.ts";
import type { GrantInfo, GrantQuery } from "../../../grants/grants.ts";
import type { McpHost } from "../../../host/host.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { offerApproval } from "../../steps/approve-launch.ts";
import { requireServer } from "../../steps/connect-server.ts";
import { requireStore, withWholeHost } from "../../steps/open-host.ts";
import { type Column, columnWidths, writeRow, writeTitles } from "../../terminal/table.ts";
import { addExamples } from "../../words/examples.ts";
import { choiceArgument } from "../../words/option-values.ts";
import { parseToolAddress } from "../../words/tool-address.ts";

interface ConsentCommand {
  readonly action: "list" | "allow" | "revoke";
  /** `server` or `server.tool`. */
  readonly target: string | undefined;
  readonly agent: string | undefined;
  /** With a whole server: the tools it calls destructive, too. */
  readonly includeDestructive: boolean;
}

const defaultAgent = "main";
const columns: readonly Column[] = [
  { title: "AGENT" },
  { title: "SERVER" },
  { title: "TOOL" },
  { title: "ENDS" },
];

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "what is allowed", line: "plugboard consent list" },
    {
      says: "allow one tool to one agent",
      line: "plugboard consent allow demo.add --agent nightly",
    },
    { says: "take back all that is allowed of a server", line: "plugboard consent revoke demo" },
  ]);
  command
    .description(
      "Lists, grants or takes back what an agent may call without asking. A grant holds for the tools\n" +
        "exactly as they are now, and for the server as it is started now.",
    )
    .addArgument(choiceArgument("<action>", "what to do", ["list", "allow", "revoke"]))
    .argument("[server.tool]", "one tool, or a whole server; for list and revoke all by default")
    .option("--agent <name>", "the agent; main by default, for list and revoke all of them")
    .option("--destructive", "of a whole server also the tools it calls destructive")
    .action(
      (
        action: ConsentCommand["action"],
        target: string | undefined,
        { agent, destructive = false }: { agent?: string; destructive?: boolean },
      ) =>
        execute((context) =>
          runConsent(context, { action, target, agent, includeDestructive: destructive }),
        ),
    );
};

/** `plugboard consent`: what agents may call without asking, kept for every host of this user. */
async function runConsent(context: CommandContext, command: ConsentCommand): Promise<number> {
  const { action, agent } = command;
  if (agent === "") throw createError("invalid_arguments", "--agent: a name is missing");
  return await withWholeHost(context, async (host) => {
    requireStore(context, host);
    const query: GrantQuery = { agent, ...findTarget(context, host, command.target) };
    if (action === "list") return writeGrants(context, host.grants.list(query));
    if (action === "allow") return await allow(context, host, command, query);
    const revoked = await host.grants.revoke(query);
    context.answer({ revoked }, `✓ ${counted(revoked, "grant")} taken back.`);
    return 0;
  });
}

async function allow(
  context: CommandContext,
  host: McpHost,
  { includeDestructive }: ConsentCommand,
  { agent = defaultAgent, server, tool }: GrantQuery,
): Promise<number> {
  if (server === undefined)
    throw createError("invalid_arguments", "name what is to be allowed", {
      hint: "plugboard consent allow <server>.<tool>, or a whole <server>",
    });
  await offerApproval(context, host, host.server(server));
  const granted = await host.grants.allow({ agent, server, tool, includeDestructive });
  const tools = granted.map((grant) => grant.tool).join(", ") || "nothing";
  const what = neutralizeLine(`${agent} may call ${tools} of ${server}`);
  context.answer({ granted }, `✓ ${what} without asking, as long as nothing of it changes.`);
  return 0;
}

function writeGrants(context: CommandContext, grants: readonly GrantInfo[]): number {
  const { terminal, options } = context;
  if (options.json === true) terminal.json({ grants });
  else if (grants.length === 0) terminal.line("Nothing is allowed for good.");
  else {
    const rows = grants.map(({ agent, server, tool, expiresAt }) => [
      agent,
      server ?? "(no such server now)",
      tool,
      expiresAt === undefined ? "never" : new Date(expiresAt).toISOString(),
    ]);
    const widths = columnWidths(columns, rows);
    writeTitles(terminal, columns, widths);
    for (const row of rows) writeRow(terminal, columns, row, widths);
  }
  return 0;
}

/**
 * A whole server by its name, else one tool. A server that does not exist is an error here, too: whoever
 * mistypes what is to be taken back must not be told that all is well.
 */
function findTarget(
  context: CommandContext,
  host: McpHost,
  target: string | undefined,
): Partial<ToolOrigin> {
  if (target === undefined) return {};
  const names = host.servers().map(({ name }) => name);
  const isServer = names.includes(target) || !target.includes(".");
  const found = isServer ? { server: target } : parseToolAddress(target, names);
  requireServer(context, host, found.server);
  return found;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
