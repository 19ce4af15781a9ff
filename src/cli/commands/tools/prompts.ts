import type { McpPrompt, PromptMessage, PromptText } from "../../../catalog/server-content.ts";
import { createError } from "../../../errors/families.ts";
import type { McpError } from "../../../errors/mcp-error.ts";
import type { SharedHost } from "../../../host/shared-host.ts";
import { resultText } from "../../../protocol/client/result-text.ts";
import type { ContentBlock } from "../../../protocol/protocol-client.ts";
import { closest } from "../../../text/closest.ts";
import { isJsonObject } from "../../../text/json-object.ts";
import { shellWord } from "../../../text/shell-word.ts";
import { truncate } from "../../../text/truncate.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import {
  counted,
  listedObject,
  type ListedPrompts,
  renderPrompts,
} from "../../output/content-listing.ts";
import { errorObject } from "../../output/error-format.ts";
import { decodeBase64, type Piece, savePiecesTold } from "../../output/write-pieces.ts";
import { openListing, openTypedUse } from "../../steps/cli-session.ts";
import { connectForList, listEach, reportMissing } from "../../steps/connect-each.ts";
import { connectServer } from "../../steps/connect-server.ts";
import { withHost, withServer } from "../../steps/open-host.ts";
import { ProgressLine } from "../../steps/progress-line.ts";
import { readCallWords } from "../../words/call-words.ts";
import {
  addContentOptions,
  contentCommand,
  type ContentOptions,
  readContentWords,
  textsOfArguments,
} from "../../words/content-words.ts";
import { addExamples } from "../../words/examples.ts";

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "of every server", line: "plugboard prompts" },
    { says: "fill one in", line: "plugboard prompts demo greeting name=Ada" },
    {
      says: "of a server that is not configured",
      line: "plugboard prompts -- npx -y @modelcontextprotocol/server-everything",
    },
  ]);
  command
    .description(
      "Lists the prompts of a server, or of all; or fills one in and prints the text of its messages.\n" +
        "Of a server that is not configured: plugboard prompts [name] key=value -- <command>, or\n" +
        "plugboard prompts <address> [name] key=value.",
    )
    .argument("[server]", "its name in plugboard list; or an address, or -- and a command")
    .argument("[name]", "the prompt to fill in")
    .argument("[arguments...]", "key=value, or key=@file, for each of its arguments");
  addContentOptions(command).action(
    (
      server: string | undefined,
      name: string | undefined,
      others: string[],
      options: ContentOptions,
    ) =>
      execute((context) => {
        const operands = [server, name, ...others].filter((word) => word !== undefined);
        return runPrompts(context, operands, options);
      }),
  );
};

/** `plugboard prompts`: what can be filled in, or one of them with its arguments. */
async function runPrompts(
  context: CommandContext,
  operands: readonly string[],
  options: ContentOptions,
): Promise<number> {
  const { server, item: prompt, words } = readContentWords(operands, options, context.line);
  const args = textsOfArguments(await readCallWords(words, context.signal));
  if (server === undefined)
    return await withHost(context, (host) => listAll(context, host, options));
  return await withServer(context, server, async (host, name) => {
    await connectServer(context, host, { name, progress: new ProgressLine(context) });
    const prompts = await listOf(context, host, { name, options });
    if (prompt === undefined) return writeLists(context, [{ name, prompts }], []);
    const found = requirePrompt(context, { name, prompts, prompt, args });
    return await fillIn(context, host, { prompt: found, args, options });
  });
}

async function listAll(
  context: CommandContext,
  host: SharedHost,
  options: ContentOptions,
): Promise<number> {
  const connected = await connectForList(context, host, ({ prompts = [] }) =>
    counted(prompts.length, "prompt"),
  );
  const { lists, failures } = await listEach(context, connected, async (name) => ({
    name,
    prompts: await listOf(context, host, { name, options }),
  }));
  return writeLists(context, lists, failures);
}

async function listOf(
  context: CommandContext,
  host: SharedHost,
  { name, options }: { readonly name: string; readonly options: ContentOptions },
): Promise<readonly McpPrompt[]> {
  const { content } = await openListing(context, host);
  const { signal } = context;
  return await content.prompts({ server: name, signal, timeoutMs: options.timeout });
}

function writeLists(
  context: CommandContext,
  lists: readonly ListedPrompts[],
  failures: readonly McpError[],
): number {
  const { terminal, options, standpoint } = context;
  if (options.json)
    terminal.json({
      servers: lists.map(({ name, prompts }) => ({
        name,
        prompts: prompts.map((prompt) => listedObject(prompt)),
      })),
      failures: failures.map((error) => errorObject(error, standpoint).error),
    });
  else for (const list of lists) for (const line of renderPrompts(list)) terminal.line(line);
  return reportMissing(context, failures);
}

/** By its exact name, with all that it needs; a near miss is suggested and never asked for. */
function requirePrompt(
  { standpoint }: CommandContext,
  typed: {
    readonly name: string;
    readonly prompts: readonly McpPrompt[];
    readonly prompt: string;
    readonly args: Readonly<Record<string, string>>;
  },
): McpPrompt {
  const { name, prompts, prompt, args } = typed;
  const found = prompts.find((one) => one.name === prompt);
  if (found === undefined)
    throw createError("invalid_arguments", `${name} has no prompt "${truncate(prompt, 128)}"`, {
      serverName: name,
      details: {
        suggestions: closest(
          prompt,
          prompts.map((one) => one.name),
        ),
      },
      hint: `${contentCommand("prompts", name, [], standpoint)} lists them`,
    });
  const known = found.arguments.map((argument) => argument.name);
  const unknown = Object.keys(args).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw createError(
      "invalid_arguments",
      `${prompt} has no argument "${truncate(unknown, 128)}"`,
      {
        serverName: name,
        details: { suggestions: closest(unknown, known) },
      },
    );
  const missing = found.arguments.find((it) => it.isRequired && !Object.hasOwn(args, it.name));
  if (missing === undefined) return found;
  const places = found.arguments
    .filter((argument) => argument.isRequired)
    .map((argument) => `${shellWord(argument.name)}=<text>`);
  const words = [shellWord(prompt), ...places];
  throw createError("invalid_arguments", `${prompt}: "${missing.name}" is required`, {
    serverName: name,
    hint: neutralizeLine(contentCommand("prompts", name, words, standpoint)),
  });
}

async function fillIn(
  context: CommandContext,
  host: SharedHost,
  typed: {
    readonly prompt: McpPrompt;
    readonly args: Readonly<Record<string, string>>;
    readonly options: ContentOptions;
  },
): Promise<number> {
  const { prompt, args, options } = typed;
  const { serverName, name } = prompt;
  const { content } = await openTypedUse(context, host, serverName);
  const progress = new ProgressLine(context);
  progress.phase(`asking ${neutralizeLine(serverName)} for ${neutralizeLine(name)}`);
  try {
    const { signal } = context;
    const filled = await content.prompt(serverName, name, args, {
      signal,
      timeoutMs: options.timeout,
    });
    progress.stop();
    await writePrompt(context, { prompt, filled, output: options.output });
    return 0;
  } finally {
    progress.stop();
  }
}

async function writePrompt(
  context: CommandContext,
  result: {
    readonly prompt: McpPrompt;
    readonly filled: PromptText;
    readonly output: string | undefined;
  },
): Promise<void> {
  const { prompt, filled, output } = result;
  const { terminal, options } = context;
  const { description, messages } = filled;
  const pieces = messages.map((message, index) => pieceOf(prompt, message, index));
  const files =
    output === undefined || output === "-"
      ? undefined
      : await savePiecesTold(context, output, pieces);
  if (options.json) {
    terminal.json({
      server: prompt.serverName,
      prompt: prompt.name,
      ...(description === undefined ? {} : { description }),
      messages,
      ...(files === undefined ? {} : { files }),
    });
    return;
  }
  if (files === undefined) {
    terminal.data(messages.map((message) => messageText(message, messages.length)).join("\n"));
    if (pieces.some((piece) => typeof piece.content !== "string"))
      context.notice("⚠ not all of it is text: -o <folder>/ saves each message");
  }
}

/** A single message is its text alone; of several each is told with who would say it. */
function messageText({ role, content }: PromptMessage, count: number): string {
  const text = resultText([content as ContentBlock]);
  return count === 1 ? text : `[${role}]\n${text}${text.endsWith("\n") ? "" : "\n"}`;
}

function pieceOf(
  { serverName, name }: McpPrompt,
  { role, content }: PromptMessage,
  index: number,
): Piece {
  const bytes = bytesOf(content);
  return {
    name: `${name}-${index + 1}-${role}`,
    mimeType: bytes?.mimeType ?? "text/plain",
    content:
      bytes === undefined
        ? resultText([content as ContentBlock])
        : decodeBase64(serverName, bytes.data),
  };
}

/** What a block holds that is no text: an image, audio, or a resource of bytes. */
function bytesOf(
  content: PromptMessage["content"],
): { readonly data: string; readonly mimeType: string | undefined } | undefined {
  const holder = isJsonObject(content["resource"]) ? content["resource"] : content;
  const data = holder["blob"] ?? holder["data"];
  const { mimeType } = holder;
  if (typeof data !== "string") return undefined;
  return { data, mimeType: typeof mimeType === "string" ? mimeType : undefined };
}
