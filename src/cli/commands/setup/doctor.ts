import { errorTable } from "../../../errors/error-codes.ts";
import type { DoctorReport, DoctorVerdict, Finding } from "../../../host/doctor-report.ts";
import type { McpHost } from "../../../host/host.ts";
import { ownCommandsIn } from "../../../text/own-command.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { displayPathsIn } from "../../output/display-path.ts";
import { requireServer } from "../../steps/connect-server.ts";
import { withWholeHost } from "../../steps/open-host.ts";
import type { Paint } from "../../terminal/terminal.ts";
import { addExamples } from "../../words/examples.ts";

export const define: DefineCommand = (command, execute) => {
  command
    .description(
      "Looks for what is wrong with this machine and with every server, and says what to do about it:\n" +
        "connects all that may start, 15 s at most. With a name, all that is known about one server.",
    )
    .argument("[server]", "its name in plugboard list")
    .action((server: string | undefined) => execute((context) => runDoctor(context, server)));
  addExamples(command, [
    { line: "plugboard doctor", says: "this machine and every server" },
    { line: "plugboard doctor demo", says: "every check of one server" },
  ]);
};

/** `plugboard doctor`: the checks of the host, each report as soon as it is complete. */
async function runDoctor(context: CommandContext, server: string | undefined): Promise<number> {
  return await withWholeHost(context, async (host) => {
    if (server !== undefined) requireServer(context, host, server);
    const width = columnWidth(host, server);
    const reports = await host.doctor(server, {
      signal: context.signal,
      onReport: (report) => {
        if (context.options.json !== true) writeReport(context, report, { server, width });
      },
    });
    const findings = reports.flatMap((report) => report.findings);
    if (context.options.json === true)
      context.terminal.json({ ok: !findings.some(isProblem), reports });
    else if (server === undefined && host.servers().length === 0)
      context.notice("No servers are configured.");
    return exitCodeOf(findings);
  });
}

function isProblem({ verdict }: Finding): boolean {
  return verdict === "problem";
}

/** The code of the first problem; warnings are none. */
function exitCodeOf(findings: readonly Finding[]): number {
  const first = findings.find(isProblem);
  if (first === undefined) return 0;
  return first.code === undefined ? 1 : errorTable[first.code].exit;
}

const widestCheck = "leftovers".length;
const maxNameWidth = 24;

/** The first column holds names of checks, and of servers beside them where many are told of. */
function columnWidth(host: McpHost, server: string | undefined): number {
  if (server !== undefined) return widestCheck;
  const names = host.servers().map(({ name }) => neutralizeLine(name).length);
  return Math.min(Math.max(widestCheck, ...names), maxNameWidth);
}

const signs: Readonly<Record<DoctorVerdict, readonly [glyph: string, paint: Paint]>> = {
  ok: ["✓", "good"],
  warning: ["⚠", "dim"],
  problem: ["✗", "bad"],
};

interface Layout {
  /** The only server that was asked about, if one was: then every finding is shown. */
  readonly server: string | undefined;
  readonly width: number;
}

function writeReport(context: CommandContext, report: DoctorReport, layout: Layout): void {
  const { server, findings } = report;
  if (server === undefined || layout.server !== undefined) {
    for (const finding of findings) writeFinding(context, finding, finding.check, layout);
    return;
  }
  const name = neutralizeLine(server);
  const flawed = findings.filter(({ verdict }) => verdict !== "ok");
  for (const finding of flawed) {
    const { check, evidence } = finding;
    writeFinding(context, { ...finding, evidence: `${check}: ${evidence}` }, name, layout);
  }
  if (flawed.some(isProblem)) return;
  const [answer, tools] = ["answers", "tools"].map((id) => findings.find((it) => it.check === id));
  if (answer?.verdict !== "ok") return;
  const evidence = [answer, tools].flatMap((it) => (it?.verdict === "ok" ? [it.evidence] : []));
  writeFinding(context, { ...answer, evidence: evidence.join(", ") }, name, layout);
}

function writeFinding(
  { terminal, standpoint }: CommandContext,
  { verdict, evidence, fix }: Finding,
  label: string,
  { width }: Layout,
): void {
  const [glyph, paint] = signs[verdict];
  const text = displayPathsIn(neutralizeLine(evidence), standpoint);
  terminal.line(`${terminal.paint(paint, glyph)} ${label.padEnd(width)}  ${text}`);
  if (fix === undefined) return;
  const next = displayPathsIn(ownCommandsIn(neutralizeLine(fix), standpoint.program), standpoint);
  terminal.line(`  ${"".padEnd(width)}  try: ${next}`);
}
