import { readdirSync } from "node:fs";
import path from "node:path";

import { untilAborted } from "../../async/until-aborted.ts";
import type { ServerEntry } from "../../config/keys/config-keys.ts";
import { createError } from "../../errors/families.ts";
import type { HostOptions, McpHost } from "../../host/host.ts";
import { ownFolder } from "../../host/own-files.ts";
import type { AttachOptions, AttachedHost } from "../../host/resident/attached-host.ts";
import type { SharedHost } from "../../host/shared-host.ts";
import type { Human } from "../../human/human.ts";
import type { CommandContext } from "../context/command-context.ts";
import { createHumanAt } from "../human/terminal-human.ts";
import { formatConfigProblem } from "../output/error-format.ts";
import type { TypedServer } from "../words/server-words.ts";
import { canAsk } from "./approve-launch.ts";
import { cancelledBeforehand } from "./ask-line.ts";
import { ProgressLine } from "./progress-line.ts";

/**
 * A one-shot command ends within two seconds of its result, whatever its servers do: SIGTERM and SIGKILL leave time for
 * the rest of the end.
 */
export const oneShotLimits = { stopTermAfterMs: 900, stopGraceMs: 1_800 } as const;

/** The host as configured where the command was typed, for a command that goes on. Reads files, starts nothing. */
export async function openHost(
  context: CommandContext,
  options: HostOptions = {},
): Promise<McpHost> {
  const { createHost } = await import("../../host/create-host.ts");
  return await unlessInterrupted(createHost(hostOptions(context, options)), context.signal);
}

/** The same for a command that ends with its answer. */
async function openOneShotHost(context: CommandContext, options: HostOptions): Promise<McpHost> {
  const { createOneShotHost } = await import("../../host/create-host.ts");
  const opening = createOneShotHost(hostOptions(context, { limits: oneShotLimits, ...options }));
  return await unlessInterrupted(opening, context.signal);
}

function hostOptions(context: CommandContext, options: HostOptions): HostOptions {
  return {
    watch: false,
    reconnect: false,
    // What a command needs, it starts itself.
    startEager: false,
    logger: context.logger,
    ...(canAsk(context) ? { human: inputsOnly(context) } : {}),
    ...groundOptions(context),
    ...options,
  };
}

/** The options that say which configuration is meant. */
export function groundOptions({ options, standpoint }: CommandContext): HostOptions {
  const { config, db } = options;
  return {
    cwd: standpoint.cwd,
    ...(db === undefined ? {} : { store: db }),
    ...(config === undefined ? {} : { configFiles: config.toReversed() }),
  };
}

/**
 * The host that `plugboard up` runs for this folder and these files; undefined where there is none that can be used,
 * which is told at `--log-level info`: the command works alone then.
 */
export async function findRunningHost(
  context: CommandContext,
  options: AttachOptions = {},
): Promise<AttachedHost | undefined> {
  const ground = groundOptions(context);
  if (!mayRun(ownFolder(ground))) {
    context.logger.info("no host runs here, so this command works alone");
    return undefined;
  }
  const { attachToResident } = await import("../../host/resident/attach.ts");
  const { host, reason } = await attachToResident(ground, options);
  if (host === undefined)
    context.logger.info(`${reason ?? "no host runs for this folder"}, so this command works alone`);
  else context.logger.info("the host that runs here is used");
  return host;
}

/** Whether any host has left its address; most have none, and nothing is loaded to find that out. */
function mayRun(folder: string): boolean {
  try {
    return readdirSync(path.join(folder, "run")).length > 0;
  } catch {
    return false;
  }
}

/** A store that does not answer holds nobody up who wants to stop. Nothing has been started by then. */
async function unlessInterrupted(opening: Promise<McpHost>, signal: AbortSignal): Promise<McpHost> {
  try {
    return await untilAborted(opening, signal, cancelledBeforehand);
  } catch (error) {
    if (signal.aborted)
      void opening.then(
        (host) => host.close(),
        () => undefined,
      );
    throw error;
  }
}

/** What entries ask for is asked at the terminal. Servers, and questions of consent, are the commands' own affair. */
export function inputsOnly({ dialogue, standpoint }: CommandContext): Human {
  const human = createHumanAt(dialogue, standpoint);
  return { input: async (question, options) => await human.input?.(question, options) };
}

/** Whoever names files gets what they hold, be it nothing. */
export function isUnconfigured(context: CommandContext, host: McpHost): boolean {
  const { config } = context.options;
  const isFaultless = host.configProblems.every(
    ({ layer, severity }) => layer === "store" && severity === "warning",
  );
  return config === undefined && host.servers().length === 0 && isFaultless;
}

/** For commands that read or change what is kept: "nothing" would be no answer, and "done" a lie. */
export function requireStore(context: CommandContext, host: Pick<McpHost, "configProblems">): void {
  const failure = host.configProblems.find(({ code }) => code === "store_failed");
  if (failure === undefined) return;
  if (context.options.json !== true) context.told.add(failure.message);
  throw createError("store_failed", failure.message);
}

/** What is wrong with the configuration, without holding up the command. */
export function noteConfigProblems(
  context: CommandContext,
  host: Pick<McpHost, "configProblems">,
  severity: "error" | "all",
): void {
  for (const problem of host.configProblems)
    if (severity === "all" || problem.severity === "error") {
      context.told.add(problem.message);
      context.notice(formatConfigProblem(problem, context.standpoint));
    }
}

/**
 * Runs `use` with a host for looking and calling: the one that `plugboard up` runs here, else one of its own with the
 * demo server in it where nothing is configured. One that was opened for it is closed, whatever comes of it.
 */
export async function withHost<T>(
  context: CommandContext,
  use: (host: SharedHost) => Promise<T>,
): Promise<T> {
  const { workplace } = context;
  if (workplace !== undefined) return await use(await workplace.sharedHost());
  const running = await findRunningHost(context);
  if (running !== undefined)
    try {
      return await use(running);
    } finally {
      await running.close();
    }
  return await withOneShotHost(context, use, demoWhereUnconfigured(context));
}

/** The same for commands that also read or change what is kept. */
export async function withWholeHost<T>(
  context: CommandContext,
  use: (host: McpHost) => Promise<T>,
): Promise<T> {
  const { workplace } = context;
  if (workplace !== undefined) return await use(await workplace.wholeHost());
  return await withOneShotHost(context, use, demoWhereUnconfigured(context));
}

/** The same for commands that change what is configured: the demo server is none of it. */
export async function withConfiguredHost<T>(
  context: CommandContext,
  use: (host: McpHost) => Promise<T>,
): Promise<T> {
  const { workplace } = context;
  if (workplace !== undefined) return await use(await workplace.wholeHost());
  return await withOneShotHost(context, use);
}

/** Runs `use` with one server that was typed; it is there beside what is configured, and kept nowhere. */
export async function withServer<T>(
  context: CommandContext,
  server: TypedServer,
  use: (host: SharedHost, name: string) => Promise<T>,
): Promise<T> {
  const { name, entry } = server;
  if (entry === undefined) return await withHost(context, (host) => use(host, name));
  return await withTrialHost(context, server, use);
}

/** The same with a host that nobody else uses: the server is started for this command alone, and ends with it. */
export async function withTrialHost<T>(
  context: CommandContext,
  server: TypedServer,
  use: (host: McpHost, name: string) => Promise<T>,
): Promise<T> {
  const { name, entry, words } = server;
  const run = (host: McpHost): Promise<T> => use(host, name);
  if (entry === undefined)
    return await withOneShotHost(context, run, demoWhereUnconfigured(context));
  context.typedServer = { name, words };
  return await withOneShotHost(context, run, {
    servers: { [name]: entry as ServerEntry },
    // No log is kept under a name that nobody gave it.
    limits: { ...oneShotLimits, maxServerLogBytes: 0 },
  });
}

/** Whoever names files gets what they hold, be it nothing. */
function demoWhereUnconfigured({ options }: CommandContext): HostOptions {
  return { demo: options.config === undefined ? "unconfigured" : false };
}

/** Runs `use` with a host of its own, and closes it, whatever comes of it. */
export async function withOneShotHost<T>(
  context: CommandContext,
  use: (host: McpHost) => Promise<T>,
  options: HostOptions = {},
): Promise<T> {
  const host = await openOneShotHost(context, options);
  return await closeAfter(context, host, use);
}

async function closeAfter<T>(
  context: CommandContext,
  host: McpHost,
  use: (host: McpHost) => Promise<T>,
): Promise<T> {
  try {
    return await use(host);
  } finally {
    // A server that does not want to end is waited for, and the wait is shown.
    const progress = new ProgressLine(context, { plainLines: false });
    progress.phase("stopping");
    await host.close();
    progress.stop();
  }
}
