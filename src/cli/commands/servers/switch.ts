import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { displayOrigin, serverObject } from "../../output/server-status.ts";
import { requireServer } from "../../steps/connect-server.ts";
import { withConfiguredHost } from "../../steps/open-host.ts";
import { addExamples } from "../../words/examples.ts";

/** `plugboard enable`: a server that was switched off can be used again. */
export const defineEnable: DefineCommand = (command, execute) => {
  addExamples(command, [{ says: "use it again", line: "plugboard enable demo" }]);
  command
    .description("Switches a server on, in the entry where it is written. Starts nothing.")
    .argument("<server>", "its name in plugboard list")
    .action((name: string) => execute((context) => switchServer(context, name, true)));
};

/** `plugboard disable`: the entry stays, and nobody can use the server. */
export const defineDisable: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "keep its entry, and do not use it", line: "plugboard disable demo" },
  ]);
  command
    .description("Switches a server off, in the entry where it is written. Nobody can use it then.")
    .argument("<server>", "its name in plugboard list")
    .action((name: string) => execute((context) => switchServer(context, name, false)));
};

async function switchServer(
  context: CommandContext,
  name: string,
  isEnabled: boolean,
): Promise<number> {
  return await withConfiguredHost(context, async (host) => {
    const wasEnabled = requireServer(context, host, name).config.enabled;
    const status = isEnabled ? await host.enable(name) : await host.disable(name);
    const where = displayOrigin(status, context.standpoint);
    const change = `${wasEnabled === isEnabled ? "was already" : "is"} ${isEnabled ? "on" : "off"}`;
    context.answer(serverObject(status), `✓ "${name}" ${change} (${where}).`);
    return 0;
  });
}
