import { type Shell, shellDialects, shells } from "../../completion/shells.ts";
import type { DefineCommand } from "../../context/command-context.ts";
import { addExamples } from "../../words/examples.ts";
import { choiceArgument } from "../../words/option-values.ts";

/** `plugboard completion`: the script that makes a shell ask `plugboard __complete` at each Tab. */
export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    {
      says: "for bash, in every shell from now on",
      line: "echo 'source <(plugboard completion bash)' >> ~/.bashrc",
    },
    { says: "for zsh", line: "echo 'source <(plugboard completion zsh)' >> ~/.zshrc" },
    {
      says: "for fish",
      line: "plugboard completion fish > ~/.config/fish/completions/plugboard.fish",
    },
  ]);
  command
    .description(
      "Prints the script that completes commands, options, servers, tools and arguments in a shell. It\n" +
        "knows what was listed before, and starts no server.",
    )
    .addArgument(choiceArgument("<shell>", "the shell", shells))
    .action((shell: Shell) =>
      execute(async (context) => {
        const { script } = shellDialects[shell];
        if (context.options.json === true) context.terminal.json({ shell, script });
        else context.terminal.data(script);
        return 0;
      }),
    );
};
