import { errorTable } from "../../../errors/error-codes.ts";
import type { ContractReport, RuleResult, RuleVerdict } from "../../../host/contract-report.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext } from "../../context/command-context.ts";
import { offerApproval } from "../../steps/approve-launch.ts";
import { requireServer } from "../../steps/connect-server.ts";
import { withTrialHost } from "../../steps/open-host.ts";
import type { Paint } from "../../terminal/terminal.ts";
import type { TypedServer } from "../../words/server-words.ts";

/** The exit code of a server that works and breaks a rule. */
const brokenRuleExitCode = 5;

const signs: Readonly<Record<RuleVerdict, readonly [glyph: string, paint: Paint]>> = {
  pass: ["✓", "good"],
  fail: ["✗", "bad"],
  warn: ["⚠", "dim"],
  skip: ["–", "dim"],
};

const ruleWidth = "unknown-notification".length;

/** `plugboard test --contract`: how a server keeps to the protocol, a line for each rule as it is tried. */
export async function runContract(
  context: CommandContext,
  { server, timeoutMs }: { readonly server: TypedServer; readonly timeoutMs: number | undefined },
): Promise<number> {
  return await withTrialHost(context, server, async (host, name) => {
    await offerApproval(context, host, requireServer(context, host, name));
    const isJson = context.options.json === true;
    const report = await host.checkContract(name, {
      timeoutMs,
      signal: context.signal,
      onResult: (result) => {
        if (!isJson) writeRule(context, result);
      },
    });
    if (isJson) context.terminal.json(report);
    else context.notice(summaryOf(report));
    return exitCodeOf(report);
  });
}

function writeRule(
  { terminal }: CommandContext,
  { rule, text, verdict, evidence }: RuleResult,
): void {
  const [glyph, paint] = signs[verdict];
  const row = `${rule.padEnd(ruleWidth)}  ${neutralizeLine(evidence)}`;
  terminal.line(`${terminal.paint(paint, glyph)} ${row}`);
  // Of a rule that is kept its name says enough.
  if (verdict === "fail" || verdict === "warn")
    terminal.line(`  ${"".padEnd(ruleWidth)}  rule: ${text}`);
}

function summaryOf({ server, rules }: ContractReport): string {
  const count = (verdict: RuleVerdict): number =>
    rules.filter((result) => result.verdict === verdict).length;
  const counts = (["pass", "fail", "warn", "skip"] as const).map((it) => `${count(it)} ${it}`);
  return `${neutralizeLine(server)}: ${counts.join(", ")}`;
}

/** A server that cannot be started has the code of that; one that breaks a rule its own. */
function exitCodeOf({ ok, rules }: ContractReport): number {
  if (ok) return 0;
  const { code } = rules.find((result) => result.code !== undefined) ?? {};
  return code === undefined ? brokenRuleExitCode : errorTable[code].exit;
}
