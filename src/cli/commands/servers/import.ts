import type { ConfigProblem } from "../../../config/keys/config-problem.ts";
import type {
  ImportOptions,
  ImportResult,
  ImportSource,
  McpHost,
  SkippedServer,
} from "../../../host/host.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { displayPath, displayPathsIn } from "../../output/display-path.ts";
import { formatConfigProblem } from "../../output/error-format.ts";
import { scopes, trustWarning } from "../../steps/add-server.ts";
import { withConfiguredHost } from "../../steps/open-host.ts";
import { type Column, columnWidths, writeRow, writeTitles } from "../../terminal/table.ts";
import { addExamples } from "../../words/examples.ts";
import { choiceOption } from "../../words/option-values.ts";

type ImportWords = Pick<ImportOptions, "scope" | "overwrite" | "dryRun">;

const columns: readonly Column[] = [
  { title: "SOURCE" },
  { title: "SERVERS", align: "right" },
  { title: "SCOPE" },
  { title: "FILE" },
  { title: "NOTE", isBelow: true },
];

/** `plugboard import`: the servers of another program, kept here. */
export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "which programs have servers, and where", line: "plugboard import" },
    { says: "show what would be written", line: "plugboard import cursor --dry-run" },
    { says: "import all servers of Cursor", line: "plugboard import cursor" },
    {
      says: "one server of a file, for this project",
      line: "plugboard import team.json files --scope project",
    },
  ]);
  command
    .description(
      "Imports the servers of another program. What is configured here under the same name stays as it\n" +
        "is. Nothing is started, and no secret is copied: entries refer to variables in their place, and\n" +
        "you are told which to export. Servers of a file in this folder go to .plugboard/mcp.json and\n" +
        "wait for approval. Without a source: what was found, and where.",
    )
    .argument(
      "[source]",
      "claude-desktop, claude-code, claude (both), cursor, vscode, codex, windsurf, gemini, opencode, nexus3, kuse, or a file",
    )
    .argument("[servers...]", "only the servers of these names")
    .addOption(choiceOption("--scope <scope>", "where they are kept", scopes))
    .option("--overwrite", "replace servers of the same name that are kept there")
    .option("--dry-run", "show what would be written; write nothing")
    .action((from: string | undefined, names: string[], words: ImportWords) =>
      execute((context) =>
        withConfiguredHost(context, async (host) =>
          from === undefined
            ? await showSources(context, host)
            : await runImport(context, host, { from, names, ...words }),
        ),
      ),
    );
};

async function showSources(context: CommandContext, host: McpHost): Promise<number> {
  const sources = await host.importSources();
  const { terminal, standpoint } = context;
  if (context.options.json === true) {
    terminal.json({ sources });
    return 0;
  }
  const first = sources.find(({ isRead, servers }) => !isRead && servers.length > 0);
  if (sources.length === 0) terminal.line("No program with MCP servers was found.");
  else {
    const configured = new Set(host.servers().map(({ name }) => name));
    const rows = sources.map((source) => [
      source.source,
      source.problem === undefined ? String(source.servers.length) : "–",
      source.scope,
      displayPath(source.path, standpoint),
      sourceNote(source, configured),
    ]);
    const widths = columnWidths(columns, rows);
    writeTitles(terminal, columns, widths);
    for (const row of rows) writeRow(terminal, columns, row, widths);
  }
  const example = first?.source ?? "<file>";
  context.notice(
    `Import ${first === undefined ? "a file" : "one of them"}: ${standpoint.program} import ${example}   (--dry-run shows what would be written)`,
  );
  return 0;
}

function sourceNote(source: ImportSource, configured: ReadonlySet<string>): string {
  const { problem, broken, isRead, servers } = source;
  if (problem !== undefined) {
    const { line, column, message } = problem;
    const place = [line, column].filter((it) => it !== undefined).join(":");
    return ["✗", place, message].filter((part) => part !== "").join(" ");
  }
  const fresh = servers.filter((name) => !configured.has(name)).length;
  return [
    ...(isRead ? ["read from there already"] : []),
    ...(!isRead && servers.length > 0
      ? [fresh === 0 ? "all configured here" : `${fresh} new`]
      : []),
    ...(broken > 0 ? [`${broken} cannot be used`] : []),
  ].join(", ");
}

async function runImport(
  context: CommandContext,
  host: McpHost,
  options: ImportOptions,
): Promise<number> {
  const { dryRun = false } = options;
  const result = await host.importConfig(options);
  const { imported: _names, ...members } = result;
  const hasFailed =
    result.skipped.some(({ kind }) => kind === "broken") ||
    result.problems.some(({ severity }) => severity === "error");
  if (context.options.json === true) context.terminal.json({ dryRun, ...members });
  else {
    if (dryRun) showEntries(context, result);
    else showImported(context, result);
    noteDetails(context, result);
    noteNext(context, result, dryRun);
  }
  return hasFailed ? 2 : 0;
}

/** Prints what a file would hold, for each place that would be written. */
function showEntries({ terminal }: CommandContext, { servers }: ImportResult): void {
  for (const scope of scopes) {
    const entries = servers.filter((server) => server.scope === scope);
    if (entries.length === 0) continue;
    const text = JSON.stringify(
      Object.fromEntries(entries.map(({ name, entry }) => [name, entry])),
      undefined,
      2,
    );
    const where = scope === "user" ? "user scope" : "project scope: .plugboard/mcp.json";
    terminal.line(`Would be written (${where}):`);
    terminal.data(text);
  }
  if (servers.length === 0) terminal.line("Nothing would be written.");
}

function showImported(context: CommandContext, { servers, skipped }: ImportResult): void {
  const { standpoint, terminal } = context;
  for (const { name, scope, path, line, isReplaced } of servers) {
    const place = `${displayPath(path, standpoint)}${line === undefined ? "" : `:${line}`}`;
    const done = isReplaced ? "replaced" : "imported";
    context.answerLine(
      `${done} ${neutralizeLine(name)} (${scope} scope) from ${neutralizeLine(place)}`,
    );
  }
  if (servers.length > 0) return;
  const same = skipped.filter(({ kind }) => kind === "same").length;
  terminal.line(same === 0 ? "Nothing was imported." : "Nothing new: all of it is here already.");
}

/** Tells on stderr what was left out, what is doubtful, and what has to be exported. Errors are told with --quiet, too. */
function noteDetails(context: CommandContext, result: ImportResult): void {
  const { standpoint, terminal } = context;
  const note = (text: string): void =>
    context.notice(displayPathsIn(neutralizeLine(text), standpoint));
  for (const problem of result.problems) {
    const text = formatConfigProblem(problem, standpoint);
    if (problem.severity === "error") terminal.note(text);
    else context.notice(text);
  }
  for (const skipped of result.skipped)
    if (skipped.kind === "broken")
      terminal.note(formatConfigProblem(brokenEntry(skipped), standpoint));
    else
      note(
        `– ${skipped.name}: ${skipped.reason}${skipped.kind === "exists" ? "; left alone" : ""}`,
      );
  for (const text of result.notes) note(`  ${text}`);
  for (const { name, serverName, field, isSet } of result.variables)
    note(
      `⚠ ${serverName}: ${fieldText(field)} held a secret, which is not copied: it is \${${name}} now, ${isSet ? "which is set" : `so export ${name}`}`,
    );
}

/** Names an argument as warnings about entries do, counted from one. */
function fieldText(field: string): string {
  return field.replace(/^args\.(\d+)$/, (_, index) => `argument ${Number(index) + 1}`);
}

function brokenEntry({ name, reason: message, path, line, column }: SkippedServer): ConfigProblem {
  return {
    severity: "error",
    code: "config_invalid",
    message,
    ...(name === "" ? {} : { serverName: name }),
    ...(path === undefined ? {} : { path }),
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  };
}

function noteNext(context: CommandContext, { servers }: ImportResult, dryRun: boolean): void {
  const { program } = context.standpoint;
  const [first] = servers;
  if (first === undefined || dryRun) return;
  context.notice(`⚠ ${trustWarning}`);
  const isWaiting = servers.some(({ scope }) => scope === "project");
  context.notice(
    isWaiting
      ? `Those of the project wait for approval. Next: ${program} list`
      : `Nothing was started. Next: ${program} list --check`,
  );
}
