import { formatPlace } from "../../config/keys/config-problem.ts";
import type {
  EntryVariable,
  LaunchQuestion,
  PackageNotice,
  ProcessTarget,
  WantedVariable,
} from "../../human/launch-question.ts";
import { displayPath, type Places } from "../output/display-path.ts";

/** What would be started, completely: the answer covers exactly this. */
export function describeLaunch(question: LaunchQuestion, places: Places): readonly string[] {
  const { serverName, origin, target, difference, replaces } = question;
  const where = placeOf(origin, places);
  const headline =
    difference === undefined
      ? `"${serverName}" is new in ${where}. Start it?`
      : `"${serverName}" in ${where} is not what you approved on ${dayOf(difference.approvedAt)}. Start it?`;
  const rows: readonly Row[] = [
    ...(target.kind === "process"
      ? processRows(target, places)
      : ([
          ["contacts", target.url],
          ["sends", `headers: ${target.headers.join(", ") || "none of its own"}`],
        ] as const)),
    ...question.details.map(({ name, value }): Row => ["with", `${name}: ${value}`]),
    ...(replaces === undefined
      ? []
      : [["replaces", `${replaces.target} of ${placeOf(replaces.origin, places)}`] as const]),
    ...question.wants.map((wanted): Row => ["wants", wantedText(wanted)]),
    ...packageRows(question.packages),
    ...(difference?.changes ?? []).map(({ name, was = "(nothing)", is = "(nothing)" }): Row => [
      "changed",
      `${name}: ${was} → ${is}`,
    ]),
  ];
  return [headline, ...rows.map(([label, text]) => `  ${label.padEnd(8)}  ${text}`)];
}

function placeOf({ layer, path, line }: LaunchQuestion["origin"], places: Places): string {
  const shown = path === undefined ? undefined : displayPath(path, places);
  const place = formatPlace({ path: shown, line });
  return place === undefined ? layer : `${place} (${layer})`;
}

type Row = readonly [label: string, text: string];

function processRows(target: ProcessTarget, places: Places): readonly Row[] {
  const { commandLine, file, folder } = target;
  const isNamed = file.status === "found" && commandLine.split(" ", 1)[0] === file.path;
  return [
    ["runs", commandLine],
    ...(isNamed ? [] : [["file", fileText(file)] as const]),
    ["folder", folder === places.cwd ? "." : displayPath(folder, places)],
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
