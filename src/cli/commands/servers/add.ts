import { createError } from "../../../errors/families.ts";
import type { DefineCommand } from "../../context/command-context.ts";
import { addServer, addingOptions, type AddingOptions } from "../../steps/add-server.ts";
import { readSecrets } from "../../steps/read-secrets.ts";
import {
  addAuthOptions,
  askedAuthSecrets,
  type AuthOptions,
  readAuth,
} from "../../words/auth-words.ts";
import {
  addEntryOptions,
  askedSecrets,
  type EntryOptions,
  readEntry,
  refuseForProject,
  withSecrets,
} from "../../words/entry-words.ts";
import { addExamples } from "../../words/examples.ts";

/** `plugboard add`: an entry made of what was typed, kept and tried. */
export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    {
      says: "a command, kept for every project",
      line: "plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .",
    },
    {
      says: "with a variable of your shell",
      line: "plugboard add memory -e MEMORY_FILE_PATH -- npx -y @modelcontextprotocol/server-memory",
    },
    {
      says: "with a secret, which is asked for; here it comes from a file",
      line: "plugboard add notes2 --secret-env API_KEY --no-test -- node notes.js < token.txt",
    },
    {
      says: "an address, with a token that is asked for; here it comes from a file",
      line: "plugboard add docs2 https://example.com/mcp --bearer < token.txt",
    },
    {
      says: "an address, with a header",
      line: "plugboard add docs https://example.com/mcp -H 'Authorization: Bearer ${DOCS_TOKEN}'",
    },
  ]);
  command
    .description(
      "Adds a server and tries it: it is started, its tools are listed, it is stopped. It is kept in\n" +
        "your settings, for every project; --scope project writes .plugboard/mcp.json of this folder.\n" +
        "A secret is no argument: --secret-env NAME asks for it and keeps it sealed; -e NAME uses the\n" +
        "variable of your shell at each start. A server that wants a sign-in is signed in to with\n" +
        "plugboard login; the options of OAuth are for one that does not say how.",
    )
    .argument("<name>", "the name of the server")
    .argument("[server...]", "its address; or -- and its command with arguments");
  addAuthOptions(addEntryOptions(command));
  addingOptions(command).action(
    (name: string, words: string[], options: EntryOptions & AuthOptions & AddingOptions) =>
      execute(async (context) => {
        const typed = readSignedEntry(words, options);
        const asked = [...askedSecrets(options), ...askedAuthSecrets(options)];
        if (options.scope === "project") refuseForProject(asked);
        const secrets = await readSecrets(
          context,
          asked.map((it) => it.name),
        );
        const entry = withSecrets(typed, asked, secrets);
        return await addServer(context, { name, entry, options, isTyped: true });
      }),
  );
};

function readSignedEntry(
  words: readonly string[],
  options: EntryOptions & AuthOptions,
): Readonly<Record<string, unknown>> {
  const entry = readEntry(words, options);
  const auth = readAuth(options);
  if (options.clientSecret === true && options.clientId === undefined)
    throw createError("invalid_arguments", "--client-secret is for --client-id");
  if (entry["url"] !== undefined || Object.keys(auth).length === 0) return { ...entry, ...auth };
  throw createError("invalid_arguments", "a sign-in is for an address", {
    hint: "a command on this machine gets its secrets by --secret-env NAME",
  });
}
