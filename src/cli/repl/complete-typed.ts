import type { SharedHost } from "../../host/shared-host.ts";
import {
  argumentCandidates,
  candidate,
  type Candidate,
  completing,
  toolCandidates,
} from "../completion/candidates.ts";
import { completeLine } from "../completion/complete-line.ts";
import type { CommandLine } from "../context/command-context.ts";
import { lineWord, splitLine } from "./line-words.ts";
import { ownWords } from "./read-line.ts";

export interface TypedCompletion {
  readonly commandLine: CommandLine;
  /** The host with what the agent sees. */
  readonly host: SharedHost;
  readonly levels: readonly string[];
}

/** More of them are not worth looking at. */
const maxHits = 200;

/**
 * What may stand at the cursor, from what is known: nothing is started. Each is written so that it is read back as
 * exactly the name it stands for, and shows nothing but that on the screen.
 */
export async function completeTyped(
  completion: TypedCompletion,
  line: string,
): Promise<readonly [readonly string[], string]> {
  const { words, lastAt, isOpen } = splitLine(line);
  const isNewWord = lastAt === line.length && !isOpen;
  const typed = isNewWord ? [...words, ""] : words;
  const current = typed.at(-1) ?? "";
  const candidates = completing(await offer(completion, typed), current, { isQuoted: true });
  const [only, other] = candidates;
  const hits = candidates.slice(0, maxHits).map(({ value }) => lineWord(value));
  // What ends with one of these goes on.
  if (only !== undefined && other === undefined && !/[=.:]$/.test(only.value))
    return [[`${lineWord(only.value)} `], line.slice(lastAt)];
  return [hits, line.slice(lastAt)];
}

async function offer(
  completion: TypedCompletion,
  words: readonly string[],
): Promise<Iterable<Candidate>> {
  const { commandLine, host } = completion;
  const [first = "", second = "", ...rest] = words;
  if (words.length <= 1) return firstWords(completion, first);
  const name = first.startsWith("/") ? first.slice(1) : undefined;
  if (name === "mcp" && words.length === 2)
    return [...commandWords(commandLine, ""), ...ownCandidates(""), candidate("status")];
  const [command, ...operands] =
    name === "mcp"
      ? [second === "status" ? "get" : second, ...rest]
      : [name ?? first, second, ...rest];
  if (command === "agent")
    return operands.length === 2 ? completion.levels.map((it) => candidate(it)) : [];
  if (command === "log") return ["on", "off"].map((word) => candidate(word));
  if (command === "edit-args") return toolCandidates(host.servers(), operands.at(-1) ?? "");
  if (command === "help") return commandWords(commandLine, "");
  const asCommand =
    name === undefined && !first.startsWith("@")
      ? ["call", ...words]
      : name?.includes(":") === true
        ? undefined
        : [command === "retry" ? "reconnect" : command, ...operands];
  if (asCommand === undefined) return promptArguments(host, first, words);
  return await completeLine(
    {
      program: commandLine.tree(),
      define: (defined) => commandLine.define(defined),
      servers: async () => host.servers(),
      isQuoted: true,
    },
    asCommand,
  );
}

function firstWords({ commandLine, host }: TypedCompletion, current: string): readonly Candidate[] {
  const servers = host.servers();
  if (current.startsWith("@"))
    return servers.flatMap(({ name, resources = [] }) =>
      resources.map(({ uri, title }) => candidate(`@${name}:${uri}`, title)),
    );
  if (!current.startsWith("/"))
    return current === ""
      ? [candidate("/mcp"), ...ownCandidates("/")]
      : toolCandidates(servers, current);
  const prompts = servers.flatMap(({ name, prompts: offered = [] }) =>
    offered.map((prompt) => candidate(`/${name}:${prompt.name}`, prompt.description)),
  );
  return [candidate("/mcp"), ...ownCandidates("/"), ...commandWords(commandLine, "/"), ...prompts];
}

function promptArguments(
  host: SharedHost,
  first: string,
  words: readonly string[],
): readonly Candidate[] {
  const place = first.indexOf(":");
  const server = first.slice(1, place);
  const { prompts = [] } = host.servers().find(({ name }) => name === server) ?? {};
  const prompt = prompts.find(({ name }) => name === first.slice(place + 1));
  const properties = Object.fromEntries((prompt?.arguments ?? []).map(({ name }) => [name, {}]));
  return argumentCandidates({ properties }, words.slice(1, -1), words.at(-1) ?? "");
}

function commandWords(commandLine: CommandLine, prefix: string): readonly Candidate[] {
  return commandLine
    .tree()
    .commands.map((command) => candidate(`${prefix}${command.name()}`, command.summary()));
}

function ownCandidates(prefix: string): readonly Candidate[] {
  return Object.entries(ownWords).map(([name, [, says]]) => candidate(`${prefix}${name}`, says));
}
