import { formatPlace } from "../config/config-problem.ts";
import type { McpHost, ServerStatus } from "../host/host.ts";
import type { Human } from "../ports/human.ts";
import type {
  EntryVariable,
  LaunchQuestion,
  PackageNotice,
  ProcessTarget,
  WantedVariable,
} from "../ports/launch-question.ts";
import { answersYes, cancelledBeforehand } from "./ask-line.ts";
import type { CommandContext } from "./command-context.ts";
import { displayPath, type Standpoint } from "./display-path.ts";

/** Who approved, in the record of approvals. */
export const approvedBy = "cli";

/**
 * Asks whether a server that a project brought along may start, where there is someone to ask. Without
 * an answer it stays unapproved, and whatever needs it fails as `not_approved`.
 */
export async function offerApproval(
  context: CommandContext,
  host: McpHost,
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
  host: McpHost,
  name: string,
): Promise<boolean> {
  const human: Human = {
    confirm: async ({ launch }) => {
      if (launch === undefined) return "no";
      for (const line of describeQuestion(launch, context.standpoint)) context.terminal.note(line);
      return (await answersYes(context)) ? "server-always" : "no";
    },
  };
  const { signal } = context;
  try {
    return await host.requestApproval(name, { human, by: approvedBy, signal });
  } catch (error) {
    throw signal.aborted ? cancelledBeforehand() : error;
  }
}

/** What would be started, completely: the answer covers exactly this. */
export function describeQuestion(
  question: LaunchQuestion,
  standpoint: Standpoint,
): readonly string[] {
  const { serverName, origin, target, difference, replaces } = question;
  const where = placeOf(origin, standpoint);
  const headline =
    difference === undefined
      ? `"${serverName}" is new in ${where}. Start it?`
      : `"${serverName}" in ${where} is not what you approved on ${dayOf(difference.approvedAt)}. Start it?`;
  const rows: readonly Row[] = [
    ...(target.kind === "process"
      ? processRows(target, standpoint)
      : ([
          ["contacts", target.url],
          ["sends", `headers: ${target.headers.join(", ") || "none of its own"}`],
        ] as const)),
    ...question.details.map(({ name, value }): Row => ["with", `${name}: ${value}`]),
    ...(replaces === undefined
      ? []
      : [["replaces", `${replaces.target} of ${placeOf(replaces.origin, standpoint)}`] as const]),
    ...question.wants.map((wanted): Row => ["wants", wantedText(wanted)]),
    ...packageRows(question.packages),
    ...(difference?.changes ?? []).map(({ name, was = "(nothing)", is = "(nothing)" }): Row => [
      "changed",
      `${name}: ${was} → ${is}`,
    ]),
  ];
  return [headline, ...rows.map(([label, text]) => `  ${label.padEnd(8)}  ${text}`)];
}

function placeOf({ layer, path, line }: LaunchQuestion["origin"], standpoint: Standpoint): string {
  const shown = path === undefined ? undefined : displayPath(path, standpoint);
  const place = formatPlace({ path: shown, line });
  return place === undefined ? layer : `${place} (${layer})`;
}

type Row = readonly [label: string, text: string];

function processRows(target: ProcessTarget, standpoint: Standpoint): readonly Row[] {
  const { commandLine, file, folder } = target;
  const isNamed = file.status === "found" && commandLine.split(" ", 1)[0] === file.path;
  return [
    ["runs", commandLine],
    ...(isNamed ? [] : [["file", fileText(file)] as const]),
    ["folder", folder === standpoint.cwd ? "." : displayPath(folder, standpoint)],
    ...target.env.map((variable): Row => ["sets env", variableText(variable)]),
    ["sees env", visibleEnvironment(target)],
  ];
}

function fileText(file: ProcessTarget["file"]): string {
  switch (file.status) {
    case "found":
      return file.path;
    case "not found":
      return "⚠ not found";
    case "not looked up":
      return "⚠ only known when it starts";
  }
}

const inherited = {
  safe: "the usual ones (PATH, HOME, …)",
  none: "nothing of yours",
  all: "ALL of your environment",
} as const;

function variableText({ name, value, changesExecution }: EntryVariable): string {
  if (value === undefined) return `${name}  (not shown: it looks like a secret)`;
  // Quoted, so that no value can end in what looks like a remark of ours.
  const assignment = `${name}="${value.replaceAll('"', String.raw`\"`)}"`;
  return changesExecution ? `${assignment}  ⚠ changes what is executed` : assignment;
}

function visibleEnvironment({ envPassthrough, inheritEnv }: ProcessTarget): string {
  return [...envPassthrough, inherited[inheritEnv]].join(", ");
}

function wantedText({ variable, goesTo, host }: WantedVariable): string {
  return `${variable} → ${goesTo}${host === undefined ? "" : ` to ${host}`}`;
}

function packageRows(packages: LaunchQuestion["packages"]): readonly Row[] {
  if (packages === "unclear")
    return [["package", "⚠ its options do not tell which, nor whether it is pinned"]];
  return packages.map((notice): Row => ["package", packageText(notice)]);
}

function packageText({ spec, isPinned, pinnedSpec, resembles }: PackageNotice): string {
  const pin = pinnedSpec === undefined ? "name a version to pin it" : `pinned: ${pinnedSpec}`;
  return [
    spec,
    ...(isPinned ? [] : [`⚠ not pinned: may change at any start (${pin})`]),
    ...(resembles === undefined ? [] : [`⚠ looks like ${resembles}, but is not`]),
  ].join("  ");
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
