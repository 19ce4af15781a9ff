import { createError } from "../../errors/families.ts";
import type { SharedHost } from "../../host/shared-host.ts";
import type { PermissionLevel } from "../../policy/permission-level.ts";
import { isJsonObject } from "../../text/json-object.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { CommandContext, CommandLine } from "../context/command-context.ts";
import { createDraft, findEditor } from "../human/editor-draft.ts";
import { draftPlace } from "../steps/ask-line.ts";
import { requireServer } from "../steps/connect-server.ts";
import { noteConfigProblems } from "../steps/open-host.ts";
import { parseToolAddress } from "../words/tool-address.ts";
import type { AgentSeat } from "./agent-seat.ts";
import type { ForeignQuestions } from "./foreign-questions.ts";
import type { LiveNotices } from "./live-notices.ts";
import type { PreviewTerminal } from "./preview-terminal.ts";
import { type OwnWord, ownWords } from "./read-line.ts";

/** What the commands of the REPL itself work with. */
export interface OwnParts {
  readonly host: SharedHost;
  /** Questions of agents elsewhere; undefined where none can come. */
  readonly questions: ForeignQuestions | undefined;
  readonly seat: AgentSeat;
  readonly notices: LiveNotices;
  readonly terminal: PreviewTerminal;
  readonly commandLine: CommandLine;
  /** Another agent is at the seat now. */
  readonly seated: () => void;
  readonly exit: () => void;
  /** Runs a command as if it had been typed. */
  readonly run: (words: readonly string[]) => Promise<number>;
}

type OwnCommand = (
  context: CommandContext,
  parts: OwnParts,
  words: readonly string[],
) => Promise<number>;

export const levels: readonly PermissionLevel[] = ["yolo", "trusted", "sandboxed"];

/** What each word of the REPL does. */
export const ownCommands: Readonly<Record<OwnWord, OwnCommand>> = {
  agent: changeAgent,
  last: async (context, { terminal }) => {
    if (!terminal.showLast()) context.notice("There was no result yet.");
    return 0;
  },
  log: switchLogs,
  "edit-args": async (context, parts, [address]) => {
    if (address === undefined) throw usage("edit-args");
    const text = await writeArguments(context, parts, address);
    return await parts.run(["call", address, "--args", text]);
  },
  reload: async (context, { host }) => {
    await host.reload();
    noteConfigProblems(context, host, "all");
    const count = host.servers().length;
    context.answerLine(`read again: ${count} ${count === 1 ? "server" : "servers"}`);
    return 0;
  },
  questions: async (context, { questions }) => {
    const lines = questions?.lines() ?? [];
    if (lines.length === 0) context.notice("No question waits for an answer.");
    for (const line of lines) context.terminal.line(line);
    return 0;
  },
  answer: async (context, { questions }, [number]) => {
    if (questions === undefined)
      throw createError("invalid_arguments", "no question comes from elsewhere", {
        hint: "run plugboard up in another terminal, then start this again",
      });
    await questions.answer(number, context.signal);
    return 0;
  },
  help: async (context, parts, [topic]) => {
    if (topic === undefined) for (const line of helpLines(parts)) context.terminal.line(line);
    else return await parts.run(["help", topic.replace(/^\//, "")]);
    return 0;
  },
  exit: async (_context, { exit }) => {
    exit();
    return 0;
  },
};

async function changeAgent(
  context: CommandContext,
  { seat, seated, host }: OwnParts,
  [name, level]: readonly string[],
): Promise<number> {
  if (level !== undefined && !isLevel(level))
    throw createError(
      "invalid_arguments",
      `"${level.slice(0, 80)}" is none of ${levels.join(", ")}`,
    );
  if (name !== undefined) {
    const before = { agent: seat.agent, level: seat.level };
    try {
      seat.sit(name, level);
      seat.session(host);
      await seat.refresh();
    } catch (error) {
      seat.sit(before.agent, before.level);
      throw error;
    }
    seated();
  }
  const servers = seat
    .hostInView()
    .servers()
    .filter(({ state }) => state === "connected");
  const names = neutralizeLine(servers.map((server) => server.name).join(", ")) || "none";
  const who = `${neutralizeLine(seat.agent)} (${seat.level})`;
  context.terminal.line(`agent ${who} · connected: ${names}`);
  return 0;
}

function isLevel(word: string): word is PermissionLevel {
  return (levels as readonly string[]).includes(word);
}

async function switchLogs(
  context: CommandContext,
  { notices }: OwnParts,
  [word]: readonly string[],
): Promise<number> {
  if (word !== "on" && word !== "off") throw usage("log");
  notices.showsLogs = word === "on";
  context.answerLine(`what servers log is ${word === "on" ? "shown as it comes" : "not shown"}`);
  return 0;
}

/** The arguments of a call as they are written in the person's editor, from a draft that the tool's schema suggests. */
export async function writeArguments(
  context: CommandContext,
  { seat }: Pick<OwnParts, "seat">,
  address: string,
): Promise<string> {
  const host = seat.hostInView();
  const target = parseToolAddress(
    address,
    host.servers().map(({ name }) => name),
  );
  const { tools } = requireServer(context, host, target.server);
  const schema = tools.find(({ name }) => name === target.tool)?.inputSchema;
  const text = `${JSON.stringify(emptyArguments(schema), undefined, 2)}\n`;
  return await writeInEditor(context, "arguments.json", text);
}

/** A text that the person writes in the editor; what is there already may be changed. */
export async function writeInEditor(
  context: CommandContext,
  name: string,
  text: string,
): Promise<string> {
  const editor = findEditor(process.env);
  const draft = await createDraft({ editor, name, text, ...draftPlace(context) });
  try {
    return await draft.edit();
  } finally {
    await draft.end({ isTaken: true });
  }
}

function emptyArguments(schema: unknown): Readonly<Record<string, unknown>> {
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  if (!isJsonObject(properties)) return {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, declared]) => [name, emptyValue(declared)]),
  );
}

function emptyValue(declared: unknown): unknown {
  if (!isJsonObject(declared)) return null;
  if (declared["default"] !== undefined) return declared["default"];
  switch (declared["type"]) {
    case "string":
      return "";
    case "number":
    case "integer":
      return 0;
    case "boolean":
      return false;
    case "array":
      return [];
    case "object":
      return {};
    default:
      return null;
  }
}

function usage(name: OwnWord): Error {
  return createError("invalid_arguments", `/${name} needs ${ownWords[name][0]}`);
}

const forms: readonly (readonly [form: string, says: string])[] = [
  ["/mcp", "the servers"],
  ["/mcp connect <server>", "connect it: --allow-all or --per-tool, --shared or --private"],
  ["/mcp disconnect <server>", "let go of it, and forget what was allowed of it"],
  ["/mcp tools|resources|prompts [server]", "what servers offer"],
  ["<server>.<tool> key=value", "call a tool; /mcp call does the same"],
  ["/<server>:<prompt> key=value", "fill in a prompt"],
  ["@<server>:<uri>", "read a resource"],
];

function helpLines({ commandLine }: OwnParts): readonly string[] {
  const own = Object.entries(ownWords).map(
    ([name, [words, says]]) => [`/${name} ${words}`.trimEnd(), says] as const,
  );
  const commands = commandLine.tree().commands.map((command) => command.name());
  return [
    ...[...forms, ...own].map(([form, says]) => `  ${form.padEnd(38)}  ${says}`),
    "",
    "Every command of plugboard works as /command and as /mcp command; /help <command> explains it:",
    ...wrapped(commands.filter((name) => !["help", "repl"].includes(name))),
    "Tab completes, Ctrl-C cancels what runs, Ctrl-D leaves.",
  ];
}

function wrapped(words: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < 90)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`  ${word}`);
  }
  return lines;
}
