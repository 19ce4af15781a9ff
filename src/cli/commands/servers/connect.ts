import { type Command, Option } from "commander";

import { errorTable } from "../../../errors/error-codes.ts";
import { createError } from "../../../errors/families.ts";
import { McpError } from "../../../errors/mcp-error.ts";
import type { ConnectElsewhereOptions, McpHost } from "../../../host/host.ts";
import { ownCommand } from "../../../text/own-command.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import type { Workplace } from "../../context/workplace.ts";
import { parseDuration } from "../../output/duration.ts";
import { displayOrigin, pendingNote, serverObject } from "../../output/server-status.ts";
import type { ConnectWish } from "../../repl/connect-here.ts";
import { offerApproval } from "../../steps/approve-launch.ts";
import { requireServer } from "../../steps/connect-server.ts";
import { withConfiguredHost } from "../../steps/open-host.ts";
import { notTried, tryServer } from "../../steps/try-server.ts";
import { addExamples } from "../../words/examples.ts";

/** The options of `connect` and `reconnect`, as the parser gives them. */
interface ConnectWords {
  readonly allowAll?: boolean;
  readonly perTool?: boolean;
  readonly shared?: boolean;
  readonly private?: boolean;
  readonly agent?: string;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly test: boolean;
}

const defaultAgent = "main";
const elsewhereText =
  "Programs that run with the same settings and watch them (plugboard up, hosts of the library)\n" +
  "follow within a second; what came of it there, they tell themselves. ";

/** `plugboard connect`: a server is switched on, connected where hosts run, and tried here. */
export const defineConnect: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "switch it on, and see whether it works", line: "plugboard connect demo" },
    {
      says: "in plugboard up: for one agent, without questions about its tools",
      line: "plugboard connect demo --private --agent main --allow-all",
    },
  ]);
  command.description(
    `Switches a server on, connects it in programs that run, and tries it here.\n${elsewhereText}`,
  );
  addConnectOptions(command).action((name: string, words: ConnectWords) =>
    execute((context) => runConnect(context, { name, words, reconnect: false })),
  );
};

/** `plugboard reconnect`: the same, and hosts that run begin the connection anew. */
export const defineReconnect: DefineCommand = (command, execute) => {
  addExamples(command, [{ says: "try again what failed", line: "plugboard reconnect demo" }]);
  command.description(
    "Tries a server again that failed or hangs: programs that run end its connection and open a\n" +
      `new one, and it is tried here. One that is switched off is switched on.\n${elsewhereText}`,
  );
  addConnectOptions(command).action((name: string, words: ConnectWords) =>
    execute((context) => runConnect(context, { name, words, reconnect: true })),
  );
};

/** `plugboard disconnect`: a server is switched off until `connect` switches it on again. */
export const defineDisconnect: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "let go of it until it is connected again", line: "plugboard disconnect demo" },
  ]);
  command
    .description(
      "Switches a server off, in the entry where it is written: programs that run disconnect it\n" +
        "within a second, and nobody can use it until plugboard connect switches it on again.",
    )
    .argument("<server>", "its name in plugboard list")
    .action((name: string) => execute((context) => runDisconnect(context, name)));
};

function addConnectOptions(command: Command): Command {
  return command
    .argument("<server>", "its name in plugboard list")
    .addOption(
      either("--allow-all", "in programs that run: its tools are called without asking", "perTool"),
    )
    .addOption(
      either("--per-tool", "in programs that run: each of its tools is asked about", "allowAll"),
    )
    .addOption(
      either(
        "--shared",
        "in programs that run: an agent's connection that all others use",
        "private",
      ),
    )
    .addOption(
      either("--private", "in programs that run: for one agent; no other one sees it", "shared"),
    )
    .option("--agent <name>", "whose connection and answers these are; main by default")
    .option("--timeout <time>", "how long the try may take: 500ms, 60s, 2m", parseDuration)
    .option("--no-test", "do not start it here");
}

/** An option that contradicts another one, which is named as the parser gives it. */
function either(flags: string, description: string, other: string): Option {
  return new Option(flags, description).conflicts(other);
}

async function runDisconnect(context: CommandContext, name: string): Promise<number> {
  const { workplace } = context;
  if (workplace !== undefined) {
    const { disconnectHere } = await import("../../repl/connect-here.ts");
    return await disconnectHere(context, workplace, name);
  }
  return await withConfiguredHost(context, async (host) => {
    const { standpoint } = context;
    const { enabled } = requireServer(context, host, name).config;
    const status = await host.disable(name);
    const where = displayOrigin(status, standpoint);
    const change = enabled ? "is disconnected and off" : "was off already";
    context.answer(serverObject(status), `✓ "${neutralizeLine(name)}" ${change} (${where}).`);
    const connect = ownCommand("connect", name, [], standpoint.program);
    context.notice(`  Programs that run let go of it within a second. Again with: ${connect}`);
    return 0;
  });
}

interface ConnectCommand {
  readonly name: string;
  readonly words: ConnectWords;
  readonly reconnect: boolean;
}

async function runConnect(
  context: CommandContext,
  { name, words, reconnect }: ConnectCommand,
): Promise<number> {
  const wish = { ...readWish(words), reconnect };
  const { workplace } = context;
  if (workplace !== undefined) {
    const { connectHere, reconnectHere } = await import("../../repl/connect-here.ts");
    const run = reconnect ? reconnectHere : connectHere;
    return await run(context, workplace, hereWish(workplace, name, words));
  }
  return await withConfiguredHost(context, async (host) => {
    const before = requireServer(context, host, name);
    const status = before.config.enabled ? before : await host.enable(name);
    if (!before.config.enabled)
      context.answerLine(
        `"${neutralizeLine(name)}" is on (${displayOrigin(status, context.standpoint)}).`,
      );
    // Before others are told: they connect what is approved, and ask nobody.
    await offerApproval(context, host, status);
    const asked = host.server(name);
    const isPending = asked.state === "pending";
    if (isPending) context.notice(`⏸ not tried: ${pendingNote(asked, context.standpoint)}`);
    const isTold = !isPending && (await tellOthers(context, host, { name, wish }));
    const { isTested, failure } =
      words.test && !isPending
        ? await tryServer(context, host, { name, timeoutMs: words.timeout })
        : notTried;
    const allowed = isTold && wish.mode === "allow-all" ? toolNames(host, name) : undefined;
    if (context.options.json === true)
      context.terminal.json({
        enabled: true,
        tested: isTested,
        told: isTold,
        ...(allowed === undefined ? {} : { allowed }),
        ...serverObject(host.server(name)),
      });
    else if (!isPending) sayWhatFollows(context, { name, wish, isTold, allowed });
    if (failure !== undefined) return context.report(failure);
    return isPending ? errorTable.not_approved.exit : 0;
  });
}

/** What was typed where an agent has its place; for another agent nothing is connected there. */
function hereWish({ agent, program }: Workplace, name: string, words: ConnectWords): ConnectWish {
  if (words.agent !== undefined && words.agent !== agent)
    throw createError("invalid_arguments", `--agent: here it is "${agent}" that connects`, {
      hint: `/agent ${words.agent}, then ${program} connect`,
    });
  return {
    name,
    mode: readWish(words).mode,
    isShared: words.shared === true ? true : words.private === true ? false : undefined,
    timeoutMs: words.timeout,
  };
}

/** Throws `invalid_arguments` for an agent without a name. */
function readWish(words: ConnectWords): ConnectElsewhereOptions {
  const { allowAll, perTool, shared, private: isPrivate, agent } = words;
  if (agent === "") throw createError("invalid_arguments", "--agent: a name is missing");
  const isOwned = agent !== undefined || shared === true || isPrivate === true;
  return {
    ...(isOwned ? { owner: agent ?? defaultAgent, shared: shared === true } : {}),
    ...(allowAll === true ? { mode: "allow-all" } : {}),
    ...(perTool === true ? { mode: "ask-per-tool" } : {}),
  };
}

/** Asks hosts that run to connect the server; false, with a notice, where there is no store to ask them through. */
async function tellOthers(
  context: CommandContext,
  host: McpHost,
  { name, wish }: { readonly name: string; readonly wish: ConnectElsewhereOptions },
): Promise<boolean> {
  try {
    await host.connectElsewhere(name, wish);
    return true;
  } catch (error) {
    if (!McpError.is(error, "store_failed")) throw error;
    context.notice(`⚠ programs that run cannot be told: ${neutralizeLine(error.message)}`);
    return false;
  }
}

function toolNames(host: McpHost, name: string): readonly string[] {
  return host.server(name).tools.map((tool) => tool.name);
}

function sayWhatFollows(
  context: CommandContext,
  said: {
    readonly name: string;
    readonly wish: ConnectElsewhereOptions;
    readonly isTold: boolean;
    readonly allowed: readonly string[] | undefined;
  },
): void {
  const { name, wish, isTold, allowed } = said;
  const { program } = context.standpoint;
  if (isTold) {
    const verb = wish.reconnect === true ? "reconnect" : "connect";
    const whose = wish.owner === undefined ? "" : ` ${ownerText(wish)}`;
    context.notice(
      `  Programs that run ${verb} it now${whose}; others start it when it is first used.`,
    );
  }
  if (allowed === undefined) return;
  const whom = wish.owner === undefined ? "every agent" : `"${neutralizeLine(wish.owner)}"`;
  const list = neutralizeLine(allowed.join(", ")) || "whatever it lists";
  context.notice(`  There, until they end, ${whom} may call without asking: ${list}`);
  const agent = wish.owner === undefined ? [] : ["--agent", wish.owner];
  context.notice(`  For good: ${ownCommand("consent", "allow", [name, ...agent], program)}`);
}

function ownerText({ owner = "", shared }: ConnectElsewhereOptions): string {
  const agent = `"${neutralizeLine(owner)}"`;
  return shared === true ? `for ${agent}, who shares it` : `for ${agent} alone`;
}
