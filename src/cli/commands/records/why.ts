import { errorTable } from "../../../errors/error-codes.ts";
import type { PermissionLevel } from "../../../policy/permission-level.ts";
import type { AccessReport } from "../../../session/tools/explain-access.ts";
import { ownCommand, ownCommandsIn } from "../../../text/own-command.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import type { Standpoint } from "../../output/display-path.ts";
import { requireServer } from "../../steps/connect-server.ts";
import { withHost } from "../../steps/open-host.ts";
import { addExamples } from "../../words/examples.ts";
import { levelOption } from "../../words/option-values.ts";
import { parseToolAddress } from "../../words/tool-address.ts";

interface WhyCommand {
  readonly agent: string;
  /** `<server>.<tool>`. */
  readonly target: string;
  /** An agent has its level from the program it runs in. */
  readonly level: PermissionLevel;
}

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [{ says: "may agent main call it?", line: "plugboard why main demo.add" }]);
  command
    .description(
      "Says what each rule makes of a call, from what is known: approvals, grants, accepted tools.\n" +
        "Starts nothing. What a program gave its agent beyond a level is not known here.",
    )
    .argument("<agent>", "the agent, as its program names it")
    .argument("<server.tool>", "the tool, as plugboard tools lists it")
    .addOption(levelOption().default("trusted"))
    .action((agent: string, target: string, { level }: { level: PermissionLevel }) =>
      execute((context) => runWhy(context, { agent, target, level })),
    );
};

/** `plugboard why`: what the rules say about one tool for one agent, from what is known. Starts nothing. */
async function runWhy(context: CommandContext, command: WhyCommand): Promise<number> {
  return await withHost(context, async (host) => {
    const { agent, level } = command;
    const names = host.servers().map(({ name }) => name);
    const target = parseToolAddress(command.target, names);
    requireServer(context, host, target.server);
    const { workplace } = context;
    // Where the agent has a session that goes on, it is that one's allowances that count.
    const isSeated = agent === workplace?.agent && level === workplace.level;
    const session = isSeated ? workplace.session(host) : host.session({ agent, level });
    const report = await session.why(target);
    const { terminal, options } = context;
    if (options.json) terminal.json({ ...report, level });
    else for (const line of describeReport(report, level, context.standpoint)) terminal.line(line);
    return exitCodes[report.verdict];
  });
}

/** As a call would end; that a person would be asked is no failure. */
const exitCodes: Readonly<Record<AccessReport["verdict"], number>> = {
  allowed: 0,
  ask: 0,
  denied: errorTable.denied.exit,
  unknown: errorTable.tool_unknown.exit,
};

function describeReport(
  report: AccessReport,
  level: PermissionLevel,
  { program }: Pick<Standpoint, "program">,
): readonly string[] {
  const { agent, server = "", tool = "", steps, consent } = report;
  const subject = neutralizeLine(`${server}.${tool}`);
  const headline = `${neutralizeLine(agent)} (${level}) → ${subject}: ${verdicts[report.verdict]}`;
  const rows = steps.map(({ rule, passes, reason, hint }) => {
    const next = hint === undefined ? undefined : ownCommandsIn(hint, program);
    const told = [reason, next].filter((text) => text !== undefined).join("; ");
    return `  ${passes ? "✓" : "✗"} ${rule.padEnd(10)}  ${neutralizeLine(told)}`.trimEnd();
  });
  const settled = consent === undefined || consent === "ask" ? undefined : consent;
  return [
    headline,
    ...rows,
    ...(settled === undefined ? [] : [`  ✓ consent     ${settled}`]),
    ...(consent === "ask" ? ["  ? consent     a person is asked at the call"] : []),
    ...(report.verdict === "unknown"
      ? [
          `  ? tool        not in the list as it was last seen; ${ownCommand("tools", server, [], program)}`,
        ]
      : []),
  ];
}

const verdicts: Readonly<Record<AccessReport["verdict"], string>> = {
  allowed: "allowed",
  ask: "asks first",
  denied: "denied",
  unknown: "no such tool is known",
};
