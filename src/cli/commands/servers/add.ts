import { addServer, addingOptions, type AddingOptions } from "../../steps/add-server.ts";
import type { DefineCommand } from "../../steps/command-context.ts";
import { addEntryOptions, type EntryOptions, readEntry } from "../../words/entry-words.ts";
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
      says: "an address, with a header",
      line: "plugboard add docs https://example.com/mcp -H 'Authorization: Bearer ${DOCS_TOKEN}'",
    },
  ]);
  command
    .description(
      "Adds a server and tries it: it is started, its tools are listed, it is stopped. It is kept in\n" +
        "your settings, for every project; --scope project writes .plugboard/mcp.json of this folder.\n" +
        "No secret is kept: give -e NAME, and the variable of your shell is used at each start.",
    )
    .argument("<name>", "the name of the server")
    .argument("[server...]", "its address; or -- and its command with arguments");
  addEntryOptions(command);
  addingOptions(command).action(
    (name: string, words: string[], options: EntryOptions & AddingOptions) =>
      execute((context) =>
        addServer(context, { name, entry: readEntry(words, options), options, isTyped: true }),
      ),
  );
};
