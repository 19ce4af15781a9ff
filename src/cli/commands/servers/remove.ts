import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { displayOrigin } from "../../output/server-status.ts";
import { requireServer } from "../../steps/connect-server.ts";
import { withConfiguredHost } from "../../steps/open-host.ts";
import { addExamples } from "../../words/examples.ts";

/** `plugboard remove`: deletes an entry where it is written, and says where that was. */
export const define: DefineCommand = (command, execute) => {
  addExamples(command, [{ says: "delete its entry", line: "plugboard remove demo" }]);
  command
    .description(
      "Deletes the entry of a server where it is written. What was approved and allowed for it counts\n" +
        "again if the same server comes back. An entry of the same name that it replaced is in force again.",
    )
    .argument("<server>", "its name in plugboard list")
    .action((name: string) => execute((context) => runRemove(context, name)));
};

async function runRemove(context: CommandContext, name: string): Promise<number> {
  return await withConfiguredHost(context, async (host) => {
    const { standpoint } = context;
    const removed = requireServer(context, host, name);
    const from = displayOrigin(removed, standpoint);
    await host.remove(name);
    const now = host.servers().find((server) => server.name === name);
    const next = now && displayOrigin(now, standpoint);
    const isWaiting = now?.state === "pending";
    const what = isWaiting ? "waits for approval" : "is in force now";
    const note = next === undefined ? "" : `; the one of ${next} ${what}`;
    const other = next === undefined ? {} : isWaiting ? { waiting: next } : { inForce: next };
    context.answer(
      { removed: true, name, from, ...other },
      `✓ "${neutralizeLine(name)}" is removed from ${from}${note}.`,
    );
    return 0;
  });
}
