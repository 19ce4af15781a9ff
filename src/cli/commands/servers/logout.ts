import type { McpHost } from "../../../host/host.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { errorObject } from "../../output/error-format.ts";
import { requireServer } from "../../steps/connect-server.ts";
import { withConfiguredHost, withTrialHost } from "../../steps/open-host.ts";
import { addExamples } from "../../words/examples.ts";
import { readServer } from "../../words/server-words.ts";

/** `plugboard logout`: forgets a sign-in, and gives its tokens back to whoever issued them. */
export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    {
      says: "forget the sign-in, for every program",
      line: "plugboard logout https://example.com/mcp",
    },
  ]);
  command
    .description(
      "Signs out of a server: its tokens are forgotten here, for every program that used them, and given\n" +
        "back to whoever issued them. When those do not answer, they are forgotten all the same.",
    )
    .argument("<server>", "its name in plugboard list, or its address")
    .action((name: string) => execute((context) => runLogout(context, name)));
};

async function runLogout(context: CommandContext, word: string): Promise<number> {
  const server = readServer([word], {}, []);
  const run = (host: McpHost): Promise<number> => logout(context, host, server.name);
  if (server.entry === undefined) return await withConfiguredHost(context, run);
  return await withTrialHost(context, server, run);
}

async function logout(context: CommandContext, host: McpHost, name: string): Promise<number> {
  requireServer(context, host, name);
  const shown = neutralizeLine(name);
  const { wasSignedIn, problem } = await host.logout(name);
  context.answer(
    {
      signedOut: wasSignedIn,
      name,
      ...(problem === undefined ? {} : { problem: errorObject(problem, context.standpoint).error }),
    },
    wasSignedIn ? `✓ signed out of ${shown}.` : `Nobody is signed in to ${shown}.`,
  );
  if (problem !== undefined)
    context.notice(`⚠ its tokens could not be given back: ${neutralizeLine(problem.message)}`);
  return 0;
}
