import type { Command } from "commander";

import type { ServerEntry } from "../../config/keys/config-keys.ts";
import { toJson } from "../../config/parse/to-json.ts";
import { refuseSecrets } from "../../host/files/entry-secrets.ts";
import type { McpHost, ServerScope } from "../../host/host.ts";
import { ownCommand } from "../../text/own-command.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { CommandContext } from "../context/command-context.ts";
import { serverObject } from "../output/server-status.ts";
import { choiceOption } from "../words/option-values.ts";
import { requireStore, withConfiguredHost, withOneShotHost } from "./open-host.ts";
import { notTried, tryServer } from "./try-server.ts";

/** The options of every command that adds a server, as the parser gives them. */
export interface AddingOptions {
  readonly scope: ServerScope;
  readonly dryRun?: boolean;
  readonly test: boolean;
}

export interface AddedServer {
  readonly name: string;
  /** An entry as a file holds it; whether it is one, the host finds out. */
  readonly entry: Readonly<Record<string, unknown>>;
  readonly options: AddingOptions;
  /** Whether the entry was put together from the words of a command line. */
  readonly isTyped: boolean;
}

export const scopes: readonly ServerScope[] = ["user", "project"];
export const trustWarning =
  "Only connect to trusted MCP servers. Malicious servers can execute arbitrary actions.";

/** Adds the options of every command that adds a server. */
export function addingOptions(command: Command): Command {
  return command
    .addOption(choiceOption("--scope <scope>", "where it is kept", scopes).default("user"))
    .option("--dry-run", "show what would be kept; write and start nothing")
    .option("--no-test", "keep it without trying it");
}

/** Keeps a server that was typed, and tries it. One that does not work stays: its entry may only need a change. */
export async function addServer(context: CommandContext, added: AddedServer): Promise<number> {
  const { name, options } = added;
  const entry = added.entry as ServerEntry;
  // What was typed as a word stands in the history of the shell; and no file gets a secret.
  if (added.isTyped || options.scope === "project")
    refuseSecrets(added.entry, { canAsk: options.scope === "user" });
  if (options.dryRun === true) return await showOnly(context, added);
  return await withConfiguredHost(context, async (host) => {
    if (options.scope === "user") requireStore(context, host);
    const { notes, provenance } = await host.add(name, entry, { scope: options.scope });
    context.notice(`⚠ ${trustWarning}`);
    context.answerLine(`added (${scopeText(provenance.layer)})`);
    for (const note of notes) context.notice(`  ${neutralizeLine(note)}`);
    const { program } = context.standpoint;
    const remove = ownCommand("remove", name, [], program);
    const { isTested, failure } = options.test
      ? await tryServer(context, host, { name, next: ` Remove with: ${remove}`, waits: "sign-in" })
      : notTried;
    if (context.options.json === true)
      context.terminal.json({
        added: true,
        tested: isTested,
        warning: trustWarning,
        notes,
        ...serverObject(host.server(name)),
      });
    if (failure === undefined) return 0;
    const exitCode = context.report(failure);
    context.notice(`  It is kept all the same. Remove with: ${remove}`);
    return exitCode;
  });
}

/** Says what would be kept, as the host reads the entry: a wrong one fails as it would when it is kept. */
async function showOnly(context: CommandContext, added: AddedServer): Promise<number> {
  const { name, options } = added;
  const show = async (host: McpHost): Promise<number> => {
    const { config } = await host.add(name, added.entry);
    const { name: _name, ...entry } = toJson(config, { secrets: "mask" });
    const { scope } = options;
    const text = JSON.stringify({ [name]: entry }, undefined, 2);
    context.answer(
      { added: false, name, scope, entry },
      `Would be added (${scope} scope):\n${text}`,
    );
    return 0;
  };
  // A host that keeps nothing checks the entry like any other.
  return await withOneShotHost(context, show, { config: false, store: false });
}

function scopeText(layer: string): string {
  return layer === "project"
    ? "project scope: .plugboard/mcp.json"
    : "user scope; --scope project writes .plugboard/mcp.json";
}
