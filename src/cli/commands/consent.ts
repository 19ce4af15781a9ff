import type { GrantInfo, GrantQuery } from "../../host/grants.ts";
import { offerApproval } from "../approve-launch.ts";
import { type CallTarget, parseCallTarget } from "../call-target.ts";
import type { CommandContext } from "../command-context.ts";
import { requireServer } from "../connect-server.ts";
import { withHost } from "../open-host.ts";
import { type Column, columnWidths, renderRow } from "../table.ts";

export interface ConsentCommand {
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
  { title: "UNTIL" },
];

/** `plugboard consent`: what agents may call without asking, kept for every host of this user. */
export async function runConsent(
  context: CommandContext,
  command: ConsentCommand,
): Promise<number> {
  return await withHost(context, async (host) => {
    const { action, target, agent } = command;
    const names = host.servers().map(({ name }) => name);
    const { server, tool } = target === undefined ? {} : readTarget(target, names);
    const query: GrantQuery = { agent, server, tool };
    if (action === "list") return writeGrants(context, host.grants.list(query));
    if (action === "revoke") {
      const revoked = await host.grants.revoke(query);
      context.answer({ revoked }, `✓ ${counted(revoked, "grant")} taken back.`);
      return 0;
    }
    if (server === undefined) return writeGrants(context, host.grants.list(query));
    await offerApproval(context, host, requireServer(context, host, server));
    const { includeDestructive } = command;
    const granted = await host.grants.allow({
      agent: agent ?? defaultAgent,
      server,
      tool,
      includeDestructive,
    });
    const text = `✓ ${agent ?? defaultAgent} may call ${granted.map((grant) => grant.tool).join(", ") || "nothing"} of ${server} without asking, as long as nothing of it changes.`;
    context.answer({ granted }, text);
    return 0;
  });
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
      expiresAt === undefined ? "revoked" : new Date(expiresAt).toISOString(),
    ]);
    const widths = columnWidths(columns, rows);
    const titles = columns.map(({ title }) => title);
    terminal.line(terminal.paint("dim", renderRow(columns, titles, widths)));
    for (const row of rows) terminal.row(renderRow(columns, row, widths));
  }
  return 0;
}

/** A whole server by its name, else one tool. */
function readTarget(target: string, names: readonly string[]): Partial<CallTarget> {
  const isServer = names.includes(target) || !target.includes(".");
  return isServer ? { server: target } : parseCallTarget(target, names);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
