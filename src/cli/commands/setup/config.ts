import type { ContainerName } from "../../../config/edit/convert-entry.ts";
import { formatOrigin } from "../../../config/keys/config-problem.ts";
import { createError } from "../../../errors/families.ts";
import type { ConfigCheck, McpHost } from "../../../host/host.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { displayPath, displayPathsIn } from "../../output/display-path.ts";
import { formatConfigProblem } from "../../output/error-format.ts";
import { withConfiguredHost } from "../../steps/open-host.ts";
import { writeOutputFile } from "../../terminal/write-output-file.ts";
import { addExamples } from "../../words/examples.ts";
import { choiceArgument, choiceOption } from "../../words/option-values.ts";

interface ConfigWords {
  readonly strict?: boolean;
  readonly to?: ContainerName;
  readonly output?: string;
}

const containers: readonly ContainerName[] = ["servers", "mcpServers"];

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "what is wrong with the configuration", line: "plugboard config check" },
    {
      says: "a file as other programs read it",
      line: "plugboard config convert .plugboard/mcp.json --to mcpServers -o .mcp.json",
    },
  ]);
  command
    .description(
      "check: every file that is read here, with what is wrong in it: mistakes with line and column,\n" +
        "unknown keys, variables that are not set, entries that others replace. Starts nothing.\n" +
        "convert: a file of servers, also one of another program, under the key that programs read.\n" +
        "Comments stay where the file holds servers alone; no secret is copied.",
    )
    .addArgument(choiceArgument("<action>", "what to do", ["check", "convert"]))
    .argument("[file]", "of convert: the file")
    .option("--strict", "of check: fail on warnings, too")
    .addOption(choiceOption("--to <key>", "of convert: the key that holds the servers", containers))
    .option("-o, --output <file>", "of convert: write there, not to stdout")
    .action((action: string, file: string | undefined, words: ConfigWords) =>
      execute((context) =>
        action === "check" ? runCheck(context, file, words) : runConvert(context, file, words),
      ),
    );
};

/** `plugboard config check`: reads everything, starts nothing. */
async function runCheck(
  context: CommandContext,
  file: string | undefined,
  { strict = false }: ConfigWords,
): Promise<number> {
  if (file !== undefined)
    throw createError("invalid_arguments", "check takes no file", {
      hint: `name it before: plugboard --config ${file} config check`,
    });
  return await withConfiguredHost(context, async (host: McpHost) => {
    const check = await host.checkConfig();
    // They are the answer, not something to warn about beside it.
    for (const { message } of check.problems) context.told.add(message);
    const isOk = check.problems.every(({ severity }) => severity === "warning" && !strict);
    if (context.options.json === true) context.terminal.json({ ok: isOk, ...check });
    else writeCheck(context, check);
    return isOk ? 0 : 2;
  });
}

function writeCheck({ terminal, standpoint }: CommandContext, check: ConfigCheck): void {
  const { files, problems, shadowed, stored } = check;
  const found = files.filter(({ status }) => status !== "missing");
  for (const { path, layer, status, servers } of found) {
    const isFlawed = problems.some(
      (problem) => problem.path === path && problem.severity === "error",
    );
    const glyph =
      isFlawed || status === "broken" ? terminal.paint("bad", "✗") : terminal.paint("good", "✓");
    const count = status === "broken" ? "cannot be read" : countOf(servers, "server");
    terminal.line(neutralizeLine(`${glyph} ${displayPath(path, standpoint)} (${layer}): ${count}`));
  }
  if (stored > 0)
    terminal.line(`${terminal.paint("good", "✓")} your settings: ${countOf(stored, "server")}`);
  if (found.length + stored === 0) terminal.line("No configuration file is here.");
  for (const problem of problems) terminal.line(`  ${formatConfigProblem(problem, standpoint)}`);
  for (const { name, by, entries } of shadowed) {
    const replaced = entries.map((entry) => formatOrigin(entry)).join(", ");
    const text = `  – ${name}: ${formatOrigin(by)} replaces ${replaced}`;
    terminal.line(displayPathsIn(neutralizeLine(text), standpoint));
  }
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const warnings = problems.length - errors;
  terminal.line(`${countOf(errors, "error")}, ${countOf(warnings, "warning")}`);
}

function countOf(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** `plugboard config convert`: the same servers under another key. */
async function runConvert(
  context: CommandContext,
  file: string | undefined,
  { to, output }: ConfigWords,
): Promise<number> {
  if (file === undefined) throw createError("invalid_arguments", "which file is to be converted?");
  if (to === undefined)
    throw createError("invalid_arguments", "--to is missing: servers or mcpServers");
  const { terminal, standpoint, options } = context;
  const { cwd, home = cwd } = standpoint;
  const { convertConfig } = await import("../../../host/files/convert-config.ts");
  const { env, platform } = process;
  const ground = { workspaceFolder: cwd, home, platform, env };
  const { text, ...result } = await convertConfig({ file, to, ground });
  if (output !== undefined) await writeOutputFile(output, text);
  const target = output === undefined ? { text } : { file: output };
  if (options.json === true) terminal.json({ to, ...target, ...result });
  else {
    if (output === undefined) terminal.data(text);
    else context.answerLine(`wrote ${countOf(result.servers.length, "server")} to ${output}`);
    for (const problem of result.problems) context.notice(formatConfigProblem(problem, standpoint));
    for (const note of result.notes) context.notice(`  ${neutralizeLine(note)}`);
    for (const { name, serverName, field } of result.variables)
      context.notice(
        neutralizeLine(
          `⚠ ${serverName}: ${field} held a secret, which is not copied: it is \${${name}} now`,
        ),
      );
    if (!result.keepsComments)
      context.notice("  The file is written anew: comments of the source are not in it.");
  }
  return result.problems.some(({ severity }) => severity === "error") ? 2 : 0;
}
