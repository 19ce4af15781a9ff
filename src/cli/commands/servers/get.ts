import { toJson } from "../../../config/parse/to-json.ts";
import type { ServerStatus } from "../../../host/host.ts";
import { isJsonObject } from "../../../text/json-object.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import type { Standpoint } from "../../output/display-path.ts";
import {
  displayOrigin,
  serverObject,
  statusNote,
  statusWord,
  toolCounts,
} from "../../output/server-status.ts";
import { missingWords, signInWords } from "../../output/sign-in-words.ts";
import { requireServer } from "../../steps/connect-server.ts";
import { withHost } from "../../steps/open-host.ts";
import { addExamples } from "../../words/examples.ts";

/** `plugboard get`: one server as it is configured and known. Starts nothing. */
export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "how it is started, and where that is written", line: "plugboard get demo" },
  ]);
  command
    .description(
      "Shows one server: how it is started or reached, where its entry is written, what that replaces,\n" +
        "and what is known of it. Starts nothing, and shows no secret.",
    )
    .argument("<server>", "its name in plugboard list")
    .action((name: string) => execute((context) => runGet(context, name)));
};

async function runGet(context: CommandContext, name: string): Promise<number> {
  return await withHost(context, async (host) => {
    requireServer(context, host, name);
    const known = await host.serversAsLastSeen();
    const statuses = known.filter((server) => server.name === name);
    const { terminal, standpoint } = context;
    if (context.options.json) terminal.json({ servers: statuses.map(describeObject) });
    else
      for (const status of statuses)
        for (const line of describe(status, standpoint)) terminal.line(line);
    return 0;
  });
}

function describeObject(status: ServerStatus): Readonly<Record<string, unknown>> {
  const { name: _name, ...entry } = toJson(status.config, { secrets: "mask" });
  return {
    ...serverObject(status),
    entry,
    replaces: status.shadows.map(({ layer: scope, path: file, line }) => ({ scope, file, line })),
  };
}

type EntryMembers = Readonly<Record<string, unknown>>;

/** The members of an entry that are part of other lines. */
const isShownOtherwise: ReadonlySet<string> = new Set([
  "name",
  "command",
  "args",
  "url",
  "importedFrom",
]);

/** The lines about one entry; of a project's entry that waits, and of the one that it would replace, both are shown. */
function describe(status: ServerStatus, standpoint: Standpoint): readonly string[] {
  const { env, headers, ...entry } = toJson(status.config, { secrets: "mask" }) as EntryMembers;
  const settings = Object.entries(entry)
    .filter(([key]) => !isShownOtherwise.has(key))
    .map(([key, value]) => [key, JSON.stringify(value)] as const);
  const tools = toolCounts(status);
  const facts: readonly (readonly [label: string, text: string | undefined])[] = [
    [entry["command"] === undefined ? "reached at" : "runs", status.target],
    ["from", displayOrigin(status, standpoint)],
    ["imported", status.config.importedFrom],
    ...status.shadows.map(
      (provenance) => ["replaces", displayOrigin({ provenance }, standpoint)] as const,
    ),
    ...pairs("env", env, "="),
    ...pairs("header", headers, ": "),
    ...settings,
    ["tools", tools === undefined ? undefined : `${tools}, as last seen`],
    ["signed in", status.signIn === undefined ? undefined : signInWords(status.signIn)],
    ["scopes", status.signIn === undefined ? undefined : missingWords(status.signIn)],
    ["note", statusNote(status, standpoint, Date.now())],
  ];
  return [
    `${neutralizeLine(status.name)}  ${statusWord(status)}`,
    ...facts.flatMap(([label, text]) =>
      text === undefined || text === "" ? [] : [`  ${label.padEnd(10)}  ${neutralizeLine(text)}`],
    ),
  ];
}

function pairs(
  label: string,
  members: unknown,
  separator: string,
): readonly (readonly [string, string])[] {
  if (!isJsonObject(members)) return [];
  return Object.entries(members).map(
    ([name, value]) => [label, `${name}${separator}${String(value)}`] as const,
  );
}
