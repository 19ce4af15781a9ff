import type { PermissionLevel } from "../../../policy/permission-level.ts";
import type { DefineCommand } from "../../context/command-context.ts";
import { addExamples } from "../../words/examples.ts";
import { levelOption } from "../../words/option-values.ts";

/** `plugboard repl`: commands typed one after the other, at a host that stays open. */
export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "look around as an agent", line: "plugboard repl" },
    { says: "lines of a file or a pipe, one after the other", line: "echo /mcp | plugboard repl" },
    {
      says: "as an agent that is asked nothing",
      line: "echo 'demo.add a=2 b=3' | plugboard repl --agent nightly --level yolo",
    },
  ]);
  command
    .description(
      "Types commands one after the other, at a host that stays open: /mcp lists the servers,\n" +
        "/mcp connect connects one, <server>.<tool> key=value calls a tool, /help explains the rest.\n" +
        "Calls are made by an agent, and the person at the terminal is asked about them. Without a\n" +
        "terminal lines are read from stdin, and whatever would be asked is a no.",
    )
    .option("--agent <name>", "the agent that one begins as", "main")
    .addOption(levelOption().default("trusted"))
    .action(({ agent, level }: { agent: string; level: PermissionLevel }) =>
      execute(async (context) => {
        const { openRepl } = await import("../../repl/open-repl.ts");
        return await openRepl(context, { agent, level });
      }),
    );
};
