import { createError } from "../../../errors/families.ts";
import type { KeyHolder } from "../../../host/host-secrets.ts";
import type { McpHost } from "../../../host/host.ts";
import { ownCommand } from "../../../text/own-command.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { requireServer } from "../../steps/connect-server.ts";
import { requireStore, withConfiguredHost } from "../../steps/open-host.ts";
import { readSecret } from "../../steps/read-secrets.ts";
import { addExamples } from "../../words/examples.ts";
import { choiceArgument } from "../../words/option-values.ts";

const actions = ["set", "list", "remove", "forget", "move", "rotate"] as const;
const holders: readonly KeyHolder[] = ["environment", "passphrase", "keychain", "file"];
/** What the word after an action names; the other actions take none. */
const named = { set: "secret", remove: "secret", forget: "server", move: "holder" } as const;

interface SecretCommand {
  readonly action: (typeof actions)[number];
  /** The name of a secret; of a server for `forget`, and who is to hold the key for `move`. */
  readonly name: string | undefined;
}

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    {
      says: "keep one; at a terminal it is asked for",
      line: "plugboard secret set npm < token.txt",
    },
    { says: "the names of those that are kept", line: "plugboard secret list" },
    { says: "delete one", line: "plugboard secret remove github" },
    { says: "ask for a server's passwords again", line: "plugboard secret forget demo" },
    { says: "let a file hold the key of all of them", line: "plugboard secret move file" },
    { says: "seal all of them under a new key", line: "plugboard secret rotate" },
  ]);
  command
    .description(
      "Keeps secrets that entries of servers name with ${secret:name}, sealed: docs/secrets.md says how.\n" +
        "set asks for the secret, and does not show what is typed; or it reads stdin. It is never an\n" +
        "argument, and nothing shows it again. forget deletes what was answered to ${input:…} of a server.\n" +
        "move lets another holder keep the key that they are sealed under; rotate makes a new key.",
    )
    .addArgument(choiceArgument("<action>", "what to do", actions))
    .argument(
      "[name]",
      `the name of the secret; for forget, of the server; for move, ${holders.join(", ")}`,
    )
    .action((action: SecretCommand["action"], name: string | undefined) =>
      execute((context) => runSecret(context, { action, name })),
    );
};

/** `plugboard secret`: the secrets that entries name, which no command shows. */
async function runSecret(
  context: CommandContext,
  { action, name }: SecretCommand,
): Promise<number> {
  if (action === "list" && name !== undefined)
    throw createError("invalid_arguments", "list takes no name: no secret is shown");
  if (action === "rotate" && name !== undefined)
    throw createError("invalid_arguments", "rotate takes no name: all secrets get the new key");
  return await withConfiguredHost(context, async (host) => {
    requireStore(context, host);
    if (action === "list") return await list(context, host);
    if (action === "rotate") return await rotate(context, host);
    if (name === undefined)
      throw createError("invalid_arguments", `name the ${named[action]}`, {
        hint: `plugboard secret ${action} <${named[action]}>`,
      });
    switch (action) {
      case "set":
        return await set(context, host, name);
      case "remove":
        return await remove(context, host, name);
      case "forget":
        return await forget(context, host, name);
      case "move":
        return await move(context, host, name);
    }
  });
}

async function move(context: CommandContext, host: McpHost, wanted: string): Promise<number> {
  const holder = holders.find((kind) => kind === wanted);
  if (holder === undefined)
    throw createError(
      "invalid_arguments",
      `"${neutralizeLine(wanted)}" is none of ${holders.join(", ")}`,
    );
  await host.secrets.moveKey(holder);
  context.answer(
    { moved: true, holder },
    `✓ The key is held by: ${holder}. Make a new backup: an older one names the old holder.`,
  );
  return 0;
}

async function rotate(context: CommandContext, host: McpHost): Promise<number> {
  await host.secrets.rotateKey();
  context.answer({ rotated: true }, "✓ All secrets are sealed under a new key.");
  return 0;
}

async function set(context: CommandContext, host: McpHost, name: string): Promise<number> {
  const isReplaced = (await host.secrets.list()).includes(name);
  await host.secrets.set(name, await readSecret(context, name));
  const done = isReplaced ? "replaced" : "kept";
  context.answer(
    { set: true, name, isReplaced },
    `✓ "${neutralizeLine(name)}" is ${done}. Entries name it as \${secret:${name}}.`,
  );
  return 0;
}

async function list(context: CommandContext, host: McpHost): Promise<number> {
  const secrets = await host.secrets.list();
  if (context.options.json === true) context.terminal.json({ secrets });
  else if (secrets.length === 0) context.terminal.line("No secret is kept.");
  else for (const name of secrets) context.terminal.line(neutralizeLine(name));
  return 0;
}

async function remove(context: CommandContext, host: McpHost, name: string): Promise<number> {
  if (!(await host.secrets.remove(name)))
    throw createError("invalid_arguments", `no secret "${neutralizeLine(name)}" is kept`, {
      hint: ownCommand("secret", "list", [], context.standpoint.program),
    });
  context.answer({ removed: true, name }, `✓ "${neutralizeLine(name)}" is removed.`);
  return 0;
}

async function forget(context: CommandContext, host: McpHost, name: string): Promise<number> {
  requireServer(context, host, name);
  const forgotten = await host.forgetInputs(name);
  const what =
    forgotten === 0 ? "Nothing was kept" : `What was answered (${forgotten}) is forgotten`;
  context.answer(
    { forgotten, name },
    `✓ ${what} for "${neutralizeLine(name)}"; its next start asks for it.`,
  );
  return 0;
}
