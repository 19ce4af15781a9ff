import { Argument, Command, Option } from "commander";

import { createError } from "../errors/families.ts";
import type { McpError } from "../errors/mcp-error.ts";
import type { PermissionLevel } from "../policy/permission-level.ts";
import { closest } from "../text/closest.ts";
import { parseDuration } from "./output/duration.ts";
import { logLevels } from "./output/stderr-logger.ts";
import type { CommandContext } from "./steps/command-context.ts";

/** Runs one command once its words are understood. */
export type Execute = (command: (context: CommandContext) => Promise<number>) => Promise<void>;

const defaultTestPort = 9_000;
const levels: readonly PermissionLevel[] = ["yolo", "trusted", "sandboxed"];
const maxHelpWidth = 100;

/** The tree of commands. The code of each, and with it the host, is loaded only when it runs. */
export function createProgram(version: string, execute: Execute): Command {
  const program = new Command("plugboard")
    .description("The secure MCP host for TypeScript agents.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    // Errors are told by `main`, in the same style as all others.
    .configureOutput({
      outputError: () => {},
      getOutHelpWidth: () => helpWidth(process.stdout),
      getErrHelpWidth: () => helpWidth(process.stderr),
    })
    .exitOverride()
    .option("--json", "print one JSON object; errors become one on stderr")
    .option("--quiet", "no progress, no notices and no warnings")
    .option("--no-color", "no colour")
    .option(
      "--config <file>",
      "read this file, not the usual ones (repeatable; the last wins)",
      collect,
    )
    .option("--cwd <folder>", "work as if started in this folder")
    .addOption(
      new Option("--log-level <level>", "what the host reports on stderr; warn by default")
        .choices(logLevels)
        .argParser(parseChoice(logLevels)),
    );

  program
    .command("up")
    .summary("connect what is configured and stay; without configuration, show the demo servers")
    .description(
      "Connects every configured server and stays until Ctrl-C (exit code 0). Where nothing is\n" +
        "configured it starts the bundled demo servers and shows a few calls.",
    )
    .option("--once", "show everything, stop everything, exit")
    .action(({ once = false }: { once?: boolean }) =>
      execute(async (context) => (await import("./commands/up.ts")).runUp(context, { once })),
    );

  program
    .command("call")
    .summary("call one tool and print its result")
    .description(
      "Calls one tool and prints its result. Arguments:\n" +
        "  key=value    read as the tool's schema asks\n" +
        "  key:=json    JSON, as it stands\n" +
        "  key=@file    the text of a file (key:=@file: its JSON)",
    )
    .argument("<server.tool>", "the tool, as plugboard tools lists it")
    .argument("[arguments...]", "key=value, key:=json or key=@file")
    .option("--args <json>", "all arguments as one JSON object; @file reads a file, - reads stdin")
    .option("--timeout <time>", "how long to wait for the answer: 500ms, 60s, 2m", parseDuration)
    .action((target: string, words: string[], options: { args?: string; timeout?: number }) =>
      execute(async (context) => {
        const { runCall } = await import("./commands/call.ts");
        const { args, timeout: timeoutMs } = options;
        return await runCall(context, { target, words, args, timeoutMs });
      }),
    );

  program
    .command("list")
    .summary("list the configured servers")
    .description("Lists the configured servers. Starts nothing, unless --check is given.")
    .option("--check", "connect all that may start (15 s at most) and fail if one cannot be")
    .action(({ check = false }: { check?: boolean }) =>
      execute(async (context) => (await import("./commands/list.ts")).runList(context, { check })),
    );

  program
    .command("tools")
    .summary("list what can be called")
    .description("Starts a server, or all of them, and lists the tools.")
    .argument("[server]", "only this server")
    .option("--schema", "whole descriptions and schemas")
    .action((server: string | undefined, { schema = false }: { schema?: boolean }) =>
      execute(async (context) => {
        const { runTools } = await import("./commands/tools.ts");
        return await runTools(context, { server, schema });
      }),
    );

  program
    .command("types")
    .summary("write a typed client for one server's tools")
    .description(
      "Starts one server and writes a TypeScript module with the types of its tools and a typed\n" +
        "client for them.",
    )
    .argument("<server>", "its name in plugboard list")
    .option("-o, --output <file>", "write to this file, not to standard output")
    .action((server: string, { output }: { output?: string }) =>
      execute(async (context) => {
        const { runTypes } = await import("./commands/emit-types.ts");
        return await runTypes(context, { server, output });
      }),
    );

  program
    .command("consent")
    .summary("what agents may call without asking")
    .description(
      "Lists, grants or takes back what an agent may call without asking. A grant holds for the tools\n" +
        "exactly as they are now, and for the server as it is started now.",
    )
    .addArgument(choiceArgument("<action>", "what to do", ["list", "allow", "revoke"]))
    .argument("[server.tool]", "one tool, or a whole server; for list and revoke all by default")
    .option("--agent <name>", "the agent; main by default, for list and revoke all of them")
    .option("--destructive", "of a whole server also the tools it calls destructive")
    .action(
      (
        action: "list" | "allow" | "revoke",
        target: string | undefined,
        { agent, destructive = false }: { agent?: string; destructive?: boolean },
      ) =>
        execute(async (context) => {
          const { runConsent } = await import("./commands/consent.ts");
          return await runConsent(context, {
            action,
            target,
            agent,
            includeDestructive: destructive,
          });
        }),
    );

  program
    .command("why")
    .summary("why an agent may or may not call a tool, rule by rule")
    .description(
      "Says what each rule makes of a call, from what is known: approvals, grants, accepted tools.\n" +
        "Starts nothing. What a program gave its agent beyond a level is not known here.",
    )
    .argument("<agent>", "the agent, as its program names it")
    .argument("<server.tool>", "the tool, as plugboard tools lists it")
    .addOption(
      new Option("--level <level>", "the agent's level")
        .choices(levels)
        .argParser(parseChoice(levels))
        .default("trusted"),
    )
    .action((agent: string, target: string, { level }: { level: PermissionLevel }) =>
      execute(async (context) => {
        const { runWhy } = await import("./commands/why.ts");
        return await runWhy(context, { agent, target, level });
      }),
    );

  program
    .command("test")
    .summary("start one server, list its tools, stop it")
    .description("Starts one server, lists its tools, stops it, and says how long each step took.")
    .argument("<server>", "its name in plugboard list")
    .option("--timeout <time>", "how long the start may take: 500ms, 60s, 2m", parseDuration)
    .action((server: string, { timeout: timeoutMs }: { timeout?: number }) =>
      execute(async (context) => {
        const { runTest } = await import("./commands/test.ts");
        return await runTest(context, { server, timeoutMs });
      }),
    );

  program
    .command("approve")
    .summary("let a server of a project start, or accept tools that changed, after a look at it")
    .description(
      "Shows what a server of a project would start, and asks whether it may. A change of its entry,\n" +
        "its folder or the file behind its command asks again. Of a server that may start it shows the\n" +
        "tools whose definition changed. Without a terminal it only shows, and ends with 6.",
    )
    .argument("<server>", "its name in plugboard list")
    .option("--identity <hash>", "approve without asking, if it is still what was shown with this")
    .option("--all", "show what changed from beginning to end, however long it is")
    .option("--revoke", "take the approval back")
    .action((server: string, options: { identity?: string; revoke?: boolean; all?: boolean }) =>
      execute(async (context) => {
        const { runApprove } = await import("./commands/approve.ts");
        const { identity, revoke = false, all = false } = options;
        return await runApprove(context, { server, identity, revoke, all });
      }),
    );

  program
    .command("test-server")
    .summary("run the bundled test server")
    .description("Runs the bundled test server: echo, get_time and add.")
    .addArgument(choiceArgument("<kind>", "how it is reached", ["stdio", "http"]))
    .option("--port <number>", "port of the http one, 0 for any", parsePort, defaultTestPort)
    .action((kind: "stdio" | "http", { port }: { port: number }) =>
      execute(async (context) => {
        const { runTestServer } = await import("./commands/test-server.ts");
        return await runTestServer(context, { kind, port });
      }),
    );

  program
    .command("help")
    .summary("print help for a command")
    .argument("[command]")
    .action((name: string | undefined) => {
      if (name === undefined) return program.outputHelp();
      const command = program.commands.find((candidate) => candidate.name() === name);
      if (command === undefined) throw unknownCommand(program, name);
      command.outputHelp();
    });

  return program;
}

export function unknownCommand(program: Command, name: string): McpError {
  const names = program.commands.map((command) => command.name());
  return createError("invalid_arguments", `no command "${name.slice(0, 80)}"`, {
    details: { suggestions: closest(name, names) },
    hint: "plugboard --help lists the commands",
  });
}

/** Reads a word of a closed list. */
function parseChoice(choices: readonly string[]): (word: string) => string {
  return (word) => {
    if (choices.includes(word)) return word;
    const known = choices.join(", ");
    throw createError("invalid_arguments", `"${word.slice(0, 80)}" is none of ${known}`, {
      details: { suggestions: closest(word, choices) },
    });
  };
}

/** Reads a TCP port; `0` lets the system choose. */
function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw createError("invalid_arguments", `"${text.slice(0, 40)}" is no port`, {
    hint: "give a number from 0 to 65535; 0 lets the system choose",
  });
}

/** Commander shows the choices in the help; its own error about another word is replaced by ours. */
function choiceArgument(name: string, description: string, choices: readonly string[]): Argument {
  return new Argument(name, description).choices(choices).argParser(parseChoice(choices));
}

/** A terminal that does not know its size says 0. */
function helpWidth({ columns = 0 }: { readonly columns?: number }): number {
  return columns > 0 ? Math.min(columns, maxHelpWidth) : maxHelpWidth;
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}
