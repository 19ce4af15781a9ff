import type { GrantInfo, GrantQuery } from "../../host/grants.ts";
import { offerApproval } from "../approve-launch.ts";
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
    const { server, tool } = target === undefined ? {} : splitTarget(target, names);
    const query: GrantQuery = { agent, server, tool };
    if (action === "list") return writeGrants(context, host.grants.list(query));
    if (action === "revoke") {
      const revoked = await host.grants.revoke(query);
      return say(context, { revoked }, `✓ ${counted(revoked, "grant")} taken back.`);
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
    return say(context, { granted }, text);
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

/** A server's name may hold dots: the longest name that fits is meant. */
function splitTarget(
  target: string,
  names: readonly string[],
): { readonly server: string; readonly tool?: string } {
  const [server] = names
    .filter((name) => target === name || target.startsWith(`${name}.`))
    .toSorted((one, other) => other.length - one.length);
  if (server !== undefined)
    return target === server ? { server } : { server, tool: target.slice(server.length + 1) };
  const dot = target.indexOf(".");
  return dot === -1
    ? { server: target }
    : { server: target.slice(0, dot), tool: target.slice(dot + 1) };
}

function say(context: CommandContext, result: object, text: string): number {
  if (context.options.json === true) context.terminal.json(result);
  else context.terminal.line(text);
  return 0;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
