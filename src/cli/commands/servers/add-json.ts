import type { DefineCommand } from "../../context/command-context.ts";
import { addingOptions, addServer, type AddingOptions } from "../../steps/add-server.ts";
import { readJsonObject } from "../../words/call-words.ts";
import { addExamples } from "../../words/examples.ts";

/** `plugboard add-json`: an entry as a file holds it, kept and tried. */
export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    {
      says: "an entry as documentation shows it",
      line: `plugboard add-json docs '{"url": "https://example.com/mcp"}'`,
    },
    {
      says: "one that stands in a file; only look at it",
      line: "plugboard add-json files @entry.json --dry-run",
    },
  ]);
  command
    .description(
      "Adds a server by its entry, as documentation of servers shows it, and tries it as plugboard\n" +
        "add does. Secrets in it are kept sealed, apart from the entry; --scope project refuses them.",
    )
    .argument("<name>", "the name of the server")
    .argument("<json>", 'its entry, such as \'{"command": "npx"}\'; @file reads a file, - stdin');
  addingOptions(command).action((name: string, json: string, options: AddingOptions) =>
    execute(async (context) => {
      const entry = await readJsonObject(json, "the entry", context.signal);
      return await addServer(context, { name, entry, options, isTyped: false });
    }),
  );
};
