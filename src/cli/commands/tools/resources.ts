import type { ResourceContents } from "../../../catalog/server-content.ts";
import { createError } from "../../../errors/families.ts";
import { McpError } from "../../../errors/mcp-error.ts";
import type { SharedHost, SharedSession } from "../../../host/shared-host.ts";
import { closest } from "../../../text/closest.ts";
import { shellWord } from "../../../text/shell-word.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import { expandTemplate, templateVariables } from "../../../text/uri-template.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import {
  counted,
  listedObject,
  type ListedResources,
  renderResources,
} from "../../output/content-listing.ts";
import { errorObject } from "../../output/error-format.ts";
import {
  decodeBase64,
  type Piece,
  printPieces,
  savePiecesTold,
} from "../../output/write-pieces.ts";
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
    { says: "of every server", line: "plugboard resources" },
    { says: "read one", line: "plugboard resources demo file:///readme.txt" },
    {
      says: "save one, whatever it is",
      line: "plugboard resources demo file:///data/users.csv -o users.csv",
    },
    {
      says: "of a server that is not configured",
      line: "plugboard resources -- npx -y @modelcontextprotocol/server-everything",
    },
  ]);
  command
    .description(
      "Lists the resources of a server, or of all, with their templates; or reads one. Text is printed,\n" +
        "anything else is saved with -o, and never printed to a terminal. A template is read with its\n" +
        "variables: plugboard resources <server> 'notes://{day}' day=monday\n" +
        "Of a server that is not configured: plugboard resources [uri] -- <command>, or\n" +
        "plugboard resources <address> [uri].",
    )
    .argument("[server]", "its name in plugboard list; or an address, or -- and a command")
    .argument("[uri]", "the resource to read; of a template with its variables")
    .argument("[variables...]", "key=value for each variable of a template");
  addContentOptions(command).action(
    (
      server: string | undefined,
      uri: string | undefined,
      others: string[],
      options: ContentOptions,
    ) =>
      execute((context) => {
        const operands = [server, uri, ...others].filter((word) => word !== undefined);
        return runResources(context, operands, options);
      }),
  );
};

/** `plugboard resources`: what can be read, or one of them. */
async function runResources(
  context: CommandContext,
  operands: readonly string[],
  options: ContentOptions,
): Promise<number> {
  const { server, item: uri, words } = readContentWords(operands, options, context.line);
  const values = textsOfArguments(await readCallWords(words, context.signal));
  if (server === undefined)
    return await withHost(context, (host) => listAll(context, host, options));
  return await withServer(context, server, async (host, name) => {
    await connectServer(context, host, { name, progress: new ProgressLine(context) });
    if (uri !== undefined) return await read(context, host, { name, uri, values, options });
    const listed = await listOf(context, await openListing(context, host), { name, options });
    return writeLists(context, [listed], []);
  });
}

async function listAll(
  context: CommandContext,
  host: SharedHost,
  options: ContentOptions,
): Promise<number> {
  const connected = await connectForList(context, host, ({ resources = [] }) =>
    counted(resources.length, "resource"),
  );
  const session = await openListing(context, host);
  const { lists, failures } = await listEach(context, connected, (name) =>
    listOf(context, session, { name, options }),
  );
  return writeLists(context, lists, failures);
}

async function listOf(
  { signal }: CommandContext,
  { content }: SharedSession,
  { name, options }: { readonly name: string; readonly options: ContentOptions },
): Promise<ListedResources> {
  const asked = { server: name, signal, timeoutMs: options.timeout };
  const [resources, templates] = await Promise.all([
    content.resources(asked),
    content.resourceTemplates(asked),
  ]);
  return { name, resources, templates };
}

function writeLists(
  context: CommandContext,
  lists: readonly ListedResources[],
  failures: readonly McpError[],
): number {
  const { terminal, options, standpoint } = context;
  if (options.json)
    terminal.json({
      servers: lists.map(({ name, resources, templates }) => ({
        name,
        resources: resources.map((resource) => listedObject(resource)),
        templates: templates.map((template) => listedObject(template)),
      })),
      failures: failures.map((error) => errorObject(error, standpoint).error),
    });
  else for (const list of lists) for (const line of renderResources(list)) terminal.line(line);
  return reportMissing(context, failures);
}

/** One resource, as it was typed. */
interface TypedRead {
  readonly name: string;
  /** Its address, or a template. */
  readonly uri: string;
  readonly values: Readonly<Record<string, string>>;
  readonly options: ContentOptions;
}

async function read(context: CommandContext, host: SharedHost, typed: TypedRead): Promise<number> {
  const { name, options } = typed;
  const { signal } = context;
  const session = await openTypedUse(context, host, name);
  const uri = await addressOf(context, session, typed);
  const progress = new ProgressLine(context);
  progress.phase(`reading ${neutralizeLine(uri)}`);
  try {
    const contents = await session.content.readResource(name, uri, {
      signal,
      timeoutMs: options.timeout,
    });
    progress.stop();
    await writeContents(context, { name, uri, contents, output: options.output });
    return 0;
  } catch (error) {
    throw McpError.is(error, "rpc_error")
      ? await withSuggestions(context, session, { name, uri, error })
      : error;
  } finally {
    progress.stop();
  }
}

/** Fills in a template. An address with braces that the server lists as it stands is none. */
async function addressOf(
  { signal, standpoint }: CommandContext,
  { content }: SharedSession,
  { name, uri, values }: TypedRead,
): Promise<string> {
  const variables = templateVariables(uri);
  const given = Object.keys(values);
  if (variables.length === 0 && given.length === 0) return uri;
  const known = variables.map((variable) => variable.name);
  const unknown = given.find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw createError("invalid_arguments", `"${uri}" has no variable "${unknown}"`, {
      details: { suggestions: closest(unknown, known) },
    });
  const missing = variables.find((it) => it.isRequired && !given.includes(it.name));
  if (missing === undefined) return expandTemplate(uri, values);
  if (given.length === 0) {
    const resources = await content.resources({ server: name, signal });
    if (resources.some((resource) => resource.uri === uri)) return uri;
  }
  const places = variables.filter((it) => it.isRequired).map((it) => `${it.name}=<value>`);
  throw createError("invalid_arguments", `the variable "${missing.name}" is missing`, {
    hint: contentCommand("resources", name, [shellWord(uri), ...places], standpoint),
  });
}

/** A server says only that there is no such thing; what it lists may be what was meant. */
async function withSuggestions(
  { signal, standpoint }: CommandContext,
  { content }: SharedSession,
  { name, uri, error }: { readonly name: string; readonly uri: string; readonly error: McpError },
): Promise<McpError> {
  const listed = await content.resources({ server: name, signal }).catch(() => []);
  const known = listed.map((resource) => resource.uri);
  if (known.includes(uri)) return error;
  const suggestions = closest(uri, known);
  const { code, message, details } = error;
  const hint =
    suggestions.length === 0
      ? `${contentCommand("resources", name, [], standpoint)} lists what can be read`
      : `did you mean: ${suggestions.map((one) => neutralizeLine(one)).join(", ")}`;
  return createError(code, message, {
    serverName: name,
    details: { ...details, suggestions },
    hint,
    cause: error,
  });
}

async function writeContents(
  context: CommandContext,
  result: {
    readonly name: string;
    readonly uri: string;
    readonly contents: readonly ResourceContents[];
    readonly output: string | undefined;
  },
): Promise<void> {
  const { name, uri, contents, output } = result;
  const { terminal, options } = context;
  const isPrinted = output === undefined || output === "-";
  if (isPrinted && options.json) {
    terminal.json({ server: name, uri, contents });
    return;
  }
  const pieces = contents.map((one) => pieceOf(name, one));
  if (isPrinted) {
    if (pieces.length > 1)
      context.notice(`${counted(pieces.length, "content")}: ${addressesOf(contents)}`);
    printPieces(terminal, pieces);
    return;
  }
  const files = await savePiecesTold(context, output, pieces);
  if (options.json) {
    const saved = contents.map((one, index) => ({
      uri: one.uri,
      ...(one.mimeType === undefined ? {} : { mimeType: one.mimeType }),
      file: files[index],
    }));
    terminal.json({ server: name, uri, contents: saved });
  }
}

function addressesOf(contents: readonly ResourceContents[]): string {
  return contents.map(({ uri }) => neutralizeLine(uri)).join(", ");
}

/** One with neither text nor bytes is an empty text. */
function pieceOf(serverName: string, { uri, mimeType, text, blob }: ResourceContents): Piece {
  const content = text ?? (blob === undefined ? "" : decodeBase64(serverName, blob));
  return { name: uri, mimeType, content };
}
