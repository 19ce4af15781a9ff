import { isDeepStrictEqual } from "node:util";

import { createError } from "../../../errors/families.ts";
import { McpError } from "../../../errors/mcp-error.ts";
import type { EditableEntry, KeptServer, McpHost } from "../../../host/host.ts";
import {
  changeEntry,
  parseEntryText,
  refuseNewSecrets,
} from "../../../host/servers/editable-entry.ts";
import { slug } from "../../../text/slug.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { isYes } from "../../human/dialogue.ts";
import { createDraft, type Draft, findEditor } from "../../human/editor-draft.ts";
import { displayOrigin, serverObject } from "../../output/server-status.ts";
import { canAsk } from "../../steps/approve-launch.ts";
import { askLine, draftPlace } from "../../steps/ask-line.ts";
import { requireServer } from "../../steps/connect-server.ts";
import { withConfiguredHost } from "../../steps/open-host.ts";
import { readSecrets } from "../../steps/read-secrets.ts";
import { notTried, tryServer } from "../../steps/try-server.ts";
import {
  addAuthOptions,
  askedAuthSecrets,
  type AuthOptions,
  readAuth,
} from "../../words/auth-words.ts";
import {
  addEntryOptions,
  type AskedSecret,
  askedSecrets,
  type EntryOptions,
  readEntryChange,
  refuseForProject,
  withSecrets,
} from "../../words/entry-words.ts";
import { addExamples } from "../../words/examples.ts";

type Entry = EditableEntry["entry"];

type EditOptions = EntryOptions & AuthOptions & { readonly test: boolean };

interface EditCommand {
  readonly name: string;
  /** What was typed to be changed. */
  readonly change: Entry;
  /** What is to be asked for beside it; without either, an editor opens the entry. */
  readonly asked: readonly AskedSecret[];
  readonly test: boolean;
}

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "one more variable; all else stays", line: "plugboard edit demo -e LOG_LEVEL=debug" },
    {
      says: "another command, not tried",
      line: "plugboard edit demo --no-test -- npx -y @modelcontextprotocol/server-memory",
    },
    { says: "the whole entry, in an editor", line: "EDITOR=true plugboard edit demo" },
  ]);
  command
    .description(
      "Changes the entry of a server where it is written, and tries it. What is typed is added or\n" +
        "takes the place of what was there; without anything to change, $VISUAL or $EDITOR opens the\n" +
        "whole entry. Secrets are shown as placeholders; --secret-env, --secret-header, --bearer and\n" +
        "--client-secret ask for new ones.",
    )
    .argument("<name>", "its name in plugboard list")
    .argument("[server...]", "another address; or -- and another command with arguments");
  addAuthOptions(addEntryOptions(command))
    .option("--no-test", "keep it without trying it")
    .action((name: string, words: string[], options: EditOptions) =>
      execute((context) => {
        const change = { ...readEntryChange(words, options), ...readAuth(options) };
        const asked = [...askedSecrets(options), ...askedAuthSecrets(options)];
        return runEdit(context, { name, change, asked, test: options.test });
      }),
    );
};

/** `plugboard edit`: an entry is changed by what was typed, or in an editor, and tried. */
async function runEdit(context: CommandContext, command: EditCommand): Promise<number> {
  return await withConfiguredHost(context, async (host) => {
    const { name, asked, test } = command;
    const { provenance } = requireServer(context, host, name);
    if (provenance.path !== undefined) refuseForProject(asked);
    const secrets = await readSecrets(
      context,
      asked.map((it) => it.name),
    );
    const change = withSecrets(command.change, asked, secrets);
    const editable = await host.editableEntry(name);
    const kept =
      Object.keys(change).length === 0
        ? await editInEditor(context, host, { name, editable })
        : await keep(host, { name, editable, entry: changeEntry(name, editable.entry, change) });
    if (typeof kept === "number") return kept;
    return await answer(context, host, { name, kept, test });
  });
}

/** What came of an edit: the server as it is kept now, undefined when nothing was changed. */
type Kept = KeptServer | undefined;

async function keep(
  host: McpHost,
  edited: { readonly name: string; readonly editable: EditableEntry; readonly entry: Entry },
): Promise<Kept> {
  const { name, editable, entry } = edited;
  if (isDeepStrictEqual(entry, editable.entry)) return undefined;
  refuseNewSecrets(entry);
  return await host.update(name, entry, { revision: editable.revision });
}

async function editInEditor(
  context: CommandContext,
  host: McpHost,
  { name, editable }: { readonly name: string; readonly editable: EditableEntry },
): Promise<Kept | number> {
  const editor = findEditor(process.env);
  const text = `${JSON.stringify(editable.entry, undefined, 2)}\n`;
  const draft = await createDraft({
    editor,
    name: `${slug(name) || "server"}.json`,
    text,
    ...draftPlace(context),
  });
  const end = await editUntilTaken(context, host, { name, editable, draft });
  if ("kept" in end) {
    await draft.end({ isTaken: true });
    return end.kept;
  }
  const { failure, isTold } = end;
  const file = await draft.end({ isTaken: false });
  const error = file === undefined ? failure : withDraft(failure, file);
  const exitCode = isTold ? exitCodeOf(error) : context.report(error);
  if (file !== undefined)
    context.notice(`  Nothing was changed. Your text is kept in ${neutralizeLine(file)}`);
  return exitCode;
}

function exitCodeOf(error: unknown): number {
  return McpError.is(error) ? error.exitCode : 1;
}

/** A program finds the file in the details of the error. */
function withDraft(error: unknown, draft: string): unknown {
  if (!McpError.is(error)) return error;
  const { code, message, serverName, hint, details } = error;
  return createError(code, message, {
    serverName,
    hint,
    details: { ...details, draft },
    cause: error,
  });
}

/** What was kept, or why nothing was, and whether the person has read that. */
type EditEnd = { readonly kept: Kept } | { readonly failure: unknown; readonly isTold: boolean };

/** Opens the editor until what was saved can be kept, or nobody wants to mend it. */
async function editUntilTaken(
  context: CommandContext,
  host: McpHost,
  edited: { readonly name: string; readonly editable: EditableEntry; readonly draft: Draft },
): Promise<EditEnd> {
  const { name, editable, draft } = edited;
  for (;;) {
    let isSaved = false;
    try {
      const text = await draft.edit();
      isSaved = true;
      return { kept: await keep(host, { name, editable, entry: parseEntryText(text) }) };
    } catch (failure) {
      // To edit again what somebody else has changed meanwhile would end in the same way.
      const canMend = isSaved && McpError.is(failure) && failure.details["isOutdated"] !== true;
      if (!canMend || !canAsk(context)) return { failure, isTold: false };
      context.report(failure);
      const again = await askLine(context, "Edit it again? [y/N] ").catch(() => "");
      if (!isYes(again)) return { failure, isTold: true };
    }
  }
}

async function answer(
  context: CommandContext,
  host: McpHost,
  edited: { readonly name: string; readonly kept: Kept; readonly test: boolean },
): Promise<number> {
  const { name, kept, test } = edited;
  const { standpoint, options, terminal } = context;
  if (kept === undefined) {
    const object = { changed: false, tested: false, notes: [], ...serverObject(host.server(name)) };
    context.answer(object, `Nothing was changed in "${neutralizeLine(name)}".`);
    return 0;
  }
  context.answerLine(`"${neutralizeLine(name)}" is changed (${displayOrigin(kept, standpoint)}).`);
  for (const note of kept.notes) context.notice(`  ${neutralizeLine(note)}`);
  const isOn = kept.config.enabled;
  const { isTested, failure } = test && isOn ? await tryServer(context, host, { name }) : notTried;
  if (options.json === true) {
    const { notes } = kept;
    terminal.json({ changed: true, tested: isTested, notes, ...serverObject(host.server(name)) });
  }
  return failure === undefined ? 0 : context.report(failure);
}
