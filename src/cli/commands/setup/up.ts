import type { McpError } from "../../../errors/mcp-error.ts";
import type { McpHost, ServerInput, ServerStatus } from "../../../host/host.ts";
import { LocalAnswerer } from "../../../host/resident/join-resident.ts";
import { SharedQuestions } from "../../../host/resident/shared-questions.ts";
import { neutralizeLine } from "../../../text/untrusted/neutralize.ts";
import { serveResident } from "../../../web/serve-resident.ts";
import type { CommandContext, DefineCommand } from "../../context/command-context.ts";
import { formatElapsed } from "../../output/duration.ts";
import {
  displayOrigin,
  pendingNote,
  quarantineNote,
  serverObject,
  stateWord,
  toolsText,
} from "../../output/server-status.ts";
import { countTools } from "../../output/tool-listing.ts";
import { canAsk } from "../../steps/approve-launch.ts";
import { configFailure, connectEach, type ConnectReport } from "../../steps/connect-each.ts";
import {
  groundOptions,
  inputsOnly,
  isUnconfigured,
  noteConfigProblems,
  oneShotLimits,
  openHost,
} from "../../steps/open-host.ts";
import { ProgressBlock } from "../../steps/progress-line.ts";
import { type TourReport, resultColumn, runTour } from "../../steps/tour.ts";
import { untilStopped } from "../../steps/until-stopped.ts";
import { addExamples } from "../../words/examples.ts";

interface UpCommand {
  /** Shows everything, stops everything and ends. */
  readonly once: boolean;
}

export const define: DefineCommand = (command, execute) => {
  addExamples(command, [
    { says: "connect everything and stay", line: "plugboard up", stays: true },
    { says: "show everything, stop everything, exit", line: "plugboard up --once" },
  ]);
  command
    .description(
      "Connects every configured server and stays until Ctrl-C (exit code 0). Where nothing is\n" +
        "configured it starts the bundled demo servers and shows a few calls.",
    )
    .option("--once", "show everything, stop everything, exit")
    .action(({ once = false }: { once?: boolean }) =>
      execute((context) => runUp(context, { once })),
    );
};

/**
 * `plugboard up`: connects what is configured and stays; where nothing is, it shows the bundled servers
 * at work. A server that fails is told and does not keep the others from working.
 */
async function runUp(context: CommandContext, command: UpCommand): Promise<number> {
  const exitCode = await runServers(context, command);
  // By now every server has ended, with all that it started.
  if (!command.once) sayStopped(context);
  return exitCode;
}

async function runServers(context: CommandContext, command: UpCommand): Promise<number> {
  const { once } = command;
  const limits = once ? oneShotLimits : {};
  const questions = new SharedQuestions();
  const configured = await openHost(context, {
    watch: !once,
    reconnect: !once,
    limits,
    ...(once ? {} : { human: questions.humanFor(), sampling: questions.sampling }),
  });
  if (!isUnconfigured(context, configured))
    return await serveAll(context, configured, { command, questions });
  await configured.close();
  const demo = await startDemoServers();
  try {
    const host = await openHost(context, {
      config: false,
      // What the bundled servers do is kept nowhere.
      store: false,
      servers: demo.entries,
      reconnect: !once,
      limits,
    });
    return await serve(context, host, { ...command, demo });
  } finally {
    await demo.close();
  }
}

/** Lets other processes use the host while it runs. */
async function serveAll(
  context: CommandContext,
  host: McpHost,
  { command, questions }: { readonly command: UpCommand; readonly questions: SharedQuestions },
): Promise<number> {
  if (command.once) return await serve(context, host, command);
  if (canAsk(context)) questions.join(new LocalAnswerer(inputsOnly(context)));
  const options = groundOptions(context);
  const { resident, reason } = await serveResident({ host, questions, options });
  if (resident === undefined)
    context.logger.warn(`commands and programs do not share this host: ${reason}`);
  try {
    return await serve(context, host, command, () => resident?.close());
  } finally {
    await resident?.close();
  }
}

const demoIntroduction =
  "Plugboard starts servers whose tools agents call. None is configured here: two of its own show how.";

async function serve(
  context: CommandContext,
  host: McpHost,
  { once, demo }: UpCommand & { readonly demo?: DemoServers },
  beforeClose: () => Promise<void> | undefined = () => undefined,
): Promise<number> {
  const isDemo = demo !== undefined;
  try {
    if (isDemo) say(context, demoIntroduction);
    noteConfigProblems(context, host, "all");
    const reports = await connectServers(context, host, isDemo ? plainFactsOf : factsOf);
    if (isDemo) say(context, "An agent calls some of their tools:");
    const tour = isDemo && !context.signal.aborted ? await runTour(context, host) : undefined;
    if (once) context.throwIfInterrupted();
    else if (context.signal.aborted) return await untilStopped(context);
    writeSummary(context, host, { tour, once });
    if (!once) return await stay(context, host, reports);
    const failure = failureOf(reports) ?? configFailure(host) ?? tour?.failure;
    return failure?.exitCode ?? 0;
  } finally {
    // Whoever uses the host hears that it ends, and not that its servers do.
    await beforeClose();
    await host.close();
  }
}

function say(context: CommandContext, text: string): void {
  if (!context.options.json) context.terminal.line(text);
}

function sayStopped(context: CommandContext): void {
  // A terminal shows the ^C that was typed at the beginning of this line.
  if (context.terminal.isInteractive) context.terminal.note("");
  say(context, "Stopped. No server is running any more, and no process is left.");
}

/** What a line says of a server that is connected. */
type DescribeServer = (status: ServerStatus) => string;

async function connectServers(
  context: CommandContext,
  host: McpHost,
  describe: DescribeServer,
): Promise<readonly ConnectReport[]> {
  const width = Math.max(0, ...host.servers().map(({ name }) => name.length));
  const attempts = connectEach(host, {
    connect: () => ({ signal: context.signal }),
    progress: new ProgressBlock(context, { plainLines: false }),
  });
  // Each is told as soon as something is known about it: none waits for a slow one before it.
  return await Promise.all(
    attempts.map(async (attempt) => {
      const report = await attempt;
      if (!context.signal.aborted) writeServer(context, report, { width, describe });
      return report;
    }),
  );
}

function writeServer(
  context: CommandContext,
  report: ConnectReport,
  { width, describe }: { readonly width: number; readonly describe: DescribeServer },
): void {
  const { status, error, durationMs } = report;
  const { terminal, standpoint, options } = context;
  if (options.json) return;
  const name = neutralizeLine(status.name).padEnd(width);
  if (error !== undefined) context.report(error);
  else if (status.state === "connected") {
    const facts = `${name}  ${neutralizeLine(describe(status))}`.padEnd(resultColumn - 2);
    terminal.line(`${terminal.paint("good", "✓")} ${facts}${formatElapsed(durationMs)}`);
    const held = quarantineNote(status, standpoint);
    if (held !== undefined) terminal.line(`▲ ${name}  ${held}`);
  } else {
    const [glyph, ...words] = stateWord(status.state).split(" ");
    const note =
      status.state === "pending"
        ? pendingNote(status, standpoint)
        : `from ${displayOrigin(status, standpoint)}`;
    terminal.line(`${glyph} ${name}  ${words.join(" ")}, ${note}`);
  }
}

function factsOf(status: ServerStatus): string {
  const { transport, target, protocolVersion } = status;
  const where = URL.canParse(target) ? `http ${new URL(target).host}` : transport;
  const version = protocolVersion === undefined ? "" : `, MCP ${protocolVersion}`;
  return `${where}, ${toolsText(status)}${version}`;
}

/** The same for somebody who sees all this for the first time. */
function plainFactsOf(status: ServerStatus): string {
  const { target } = status;
  const where = URL.canParse(target) ? `over HTTP, ${new URL(target).host}` : "a local program";
  return `${toolsText(status)}, ${where}`;
}

function failureOf(reports: readonly ConnectReport[]): McpError | undefined {
  return reports.find(({ error }) => error !== undefined)?.error;
}

function writeSummary(
  context: CommandContext,
  host: McpHost,
  { tour, once }: { readonly tour: TourReport | undefined; readonly once: boolean },
): void {
  const servers = host.servers();
  if (context.options.json) {
    context.terminal.json({
      servers: servers.map((status) => serverObject(status)),
      calls: tour?.calls ?? [],
      problems: host.configProblems,
    });
    return;
  }
  const connected = servers.filter(({ state }) => state === "connected");
  const tools = connected.reduce(
    (sum, { toolCount = 0, quarantined }) => sum + toolCount - quarantined.length,
    0,
  );
  const end = once ? "" : " Ctrl-C stops them and leaves no process behind.";
  say(
    context,
    `${connected.length} of ${servers.length} servers connected, ${countTools(tools)}.${end}`,
  );
  if (tour === undefined) return;
  const { program } = context.standpoint;
  say(context, "Next: add a server of your own, or call these");
  say(context, `  ${program} add files -- npx -y @modelcontextprotocol/server-filesystem .`);
  say(context, `  ${program} tools demo`);
  say(context, `  ${program} call demo.add a=2 b=3`);
}

/** Connects what is configured or switched on later, and tells what happens to the servers until somebody ends the command. */
async function stay(
  context: CommandContext,
  host: McpHost,
  reports: readonly ConnectReport[],
): Promise<number> {
  // Servers whose failure has been told: further attempts are told by what becomes of them.
  const failing = new Set(
    reports.flatMap(({ status, error }) => (error === undefined ? [] : [status.name])),
  );
  const unfollow = host.on("servers-changed", ({ added, changed, removed }) => {
    for (const name of [...added, ...changed]) {
      failing.delete(name);
      connectLater(context, host, name);
    }
    for (const name of removed) say(context, `○ removed  ${neutralizeLine(name)}`);
  });
  const unsubscribe = host.on("server-state", ({ serverName, state, error }) => {
    if (state === "connecting" || (state === "reconnecting" && failing.has(serverName))) return;
    if (error === undefined) failing.delete(serverName);
    else failing.add(serverName);
    // An end on purpose is told as what it is for: a server is switched off or removed, or begins anew.
    if (state === "idle") return;
    const reason = error === undefined ? "" : `: ${error.message}`;
    say(context, `${stateWord(state)}  ${neutralizeLine(`${serverName}${reason}`)}`);
  });
  try {
    return await untilStopped(context);
  } finally {
    unfollow();
    // Stopping everything is announced by whoever stopped it.
    unsubscribe();
  }
}

/** Nobody is asked here, and why a server cannot be connected is told by its state. */
function connectLater(context: CommandContext, host: McpHost, name: string): void {
  const status = host.servers().find((server) => server.name === name);
  if (status === undefined || context.signal.aborted) return;
  const { state } = status;
  if (state === "idle") host.connect(name, { signal: context.signal }).catch(() => undefined);
  else if (state === "disabled") say(context, `${stateWord(state)}  ${neutralizeLine(name)}`);
  else if (state === "pending")
    say(
      context,
      `${stateWord(state)}  ${neutralizeLine(name)}: ${pendingNote(status, context.standpoint)}`,
    );
}

/** The bundled servers as `up` starts them where nothing is configured. */
interface DemoServers {
  readonly entries: Readonly<Record<string, ServerInput>>;
  /** Ends the one that runs inside this process; the host ends the other. */
  close(): Promise<void>;
}

async function startDemoServers(): Promise<DemoServers> {
  const { createTestServer, demoServerEntry, serveHttp } =
    await import("../../../testing/index.ts");
  const http = await serveHttp(createTestServer());
  return {
    entries: {
      // We wrote the demo server, so its claims can be believed.
      demo: { ...demoServerEntry(), skipReadOnlyPrompts: true },
      "demo-http": { url: http.url, transport: "streamable-http" },
    },
    close: () => http.close(),
  };
}
