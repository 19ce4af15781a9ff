import { errorTable } from "../../errors/error-codes.ts";
import { createError } from "../../errors/families.ts";
import type { ServerStatus } from "../../host/host.ts";
import type { SharedHost } from "../../host/shared-host.ts";
import type { ConsentMode } from "../../policy/decide-consent.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { CommandContext } from "../context/command-context.ts";
import { type Holding, holdingNote, type Workplace } from "../context/workplace.ts";
import { displayOrigin, quarantineNote, serverObject, toolsText } from "../output/server-status.ts";
import { estimateTokens } from "../output/tool-listing.ts";
import { canAsk } from "../steps/approve-launch.ts";
import { connectServer, requireServer } from "../steps/connect-server.ts";
import { ProgressLine } from "../steps/progress-line.ts";
import { claimOf, type ToolClaim } from "./agent-seat.ts";

/** What was typed behind `connect` or `reconnect`; undefined where it is asked. */
export interface ConnectWish {
  readonly name: string;
  readonly mode: ConsentMode | undefined;
  readonly isShared: boolean | undefined;
  readonly timeoutMs: number | undefined;
}

const denied = errorTable.consent_denied.exit;

/**
 * Connects a server for the agent at its place, behind two gates: whether it may start, and what may be called without
 * a question. A no at the second one disconnects it again.
 */
export async function connectHere(
  context: CommandContext,
  workplace: Workplace,
  wish: ConnectWish,
): Promise<number> {
  const host = await workplace.sharedHost();
  const { name } = wish;
  const before = await switchedOn(context, workplace, requireServer(context, host, name));
  const holding = workplace.holdingOf(name);
  if (holding !== undefined && host.server(name).state === "connected")
    return await connectAgain(context, workplace, { host, wish, holding });
  if (workplace.level === "yolo" && before.state === "pending") throw unaskedLaunch(name);
  await freeUnclaimed(workplace, host, name);

  const sharer = workplace.holdersOf(name)[0];
  // What somebody else shares is joined, unless one of one's own is wanted.
  const joins = sharer !== undefined && sharer !== workplace.agent && wish.isShared !== false;
  const isShared = wish.isShared ?? joins;
  const status = await start(context, workplace, { host, wish, isShared });
  try {
    return await passSecondGate(context, workplace, { host, status, wish, isShared, joins });
  } finally {
    // Whatever came between: what nobody has agreed to does not stay.
    if (workplace.holdingOf(name) === undefined)
      await host.disconnect(name, { owner: workplace.agent });
  }
}

/** What is known behind the first gate. */
interface Started {
  readonly host: SharedHost;
  readonly status: ServerStatus;
  readonly wish: ConnectWish;
  readonly isShared: boolean;
  /** Somebody else shares it. */
  readonly joins: boolean;
}

async function passSecondGate(
  context: CommandContext,
  workplace: Workplace,
  { host, status, wish, isShared, joins }: Started,
): Promise<number> {
  const { name } = wish;
  sayWhatIsThere(context, workplace, { host, status });
  const use = await decideUse(context, workplace, { status, wish });
  if (use === undefined) {
    const text = `"${neutralizeLine(name)}" is disconnected again: its tools were not allowed.`;
    context.answer(serverObject(status), text);
    return denied;
  }
  const shares = wish.isShared === undefined && !joins && (await wantsToShare(context, workplace));
  const kept: Holding = { mode: use.mode, isShared: isShared || shares };
  const owner = workplace.agent;
  // Who is private has a connection of its own, so sharing needs another one.
  if (shares) await host.disconnect(name, { owner });
  const { signal } = context;
  await host.connect(name, { owner, shared: kept.isShared, mode: kept.mode, signal });
  workplace.setHolding(name, kept);
  workplace.chooseTools(name, use.tools);
  const sharer = joins ? workplace.holdersOf(name)[0] : undefined;
  sayHowItIsKept(context, { status: host.server(name), kept, tools: use.tools, sharer });
  if (wish.mode === "allow-all") sayWhatIsAllowed(context, workplace, host, name);
  return 0;
}

/** Begins a connection anew, as the agent has it. */
export async function reconnectHere(
  context: CommandContext,
  workplace: Workplace,
  wish: ConnectWish,
): Promise<number> {
  const host = await workplace.sharedHost();
  const { name } = wish;
  const { state } = requireServer(context, host, name);
  const holding = workplace.holdingOf(name);
  if (holding === undefined && state !== "connected")
    return await connectHere(context, workplace, wish);
  const progress = new ProgressLine(context);
  progress.phase(`starting ${neutralizeLine(name)}`);
  try {
    const mode = wish.mode ?? holding?.mode;
    const status = await host.reconnect(name, {
      ...(holding === undefined ? {} : { owner: workplace.agent, shared: holding.isShared }),
      ...(mode === undefined ? {} : { mode }),
      timeoutMs: wish.timeoutMs,
      signal: context.signal,
    });
    progress.stop();
    if (holding !== undefined && mode !== undefined)
      workplace.setHolding(name, { ...holding, mode });
    context.answer(
      connectedObject(status),
      `✓ ${neutralizeLine(name)} reconnected, ${toolsText(status)}`,
    );
    return 0;
  } finally {
    progress.stop();
  }
}

/** Lets go of a server on the agent's behalf: what was allowed of it in the session is forgotten. */
export async function disconnectHere(
  context: CommandContext,
  workplace: Workplace,
  name: string,
): Promise<number> {
  const host = await workplace.sharedHost();
  const { state } = requireServer(context, host, name);
  const isHeld = workplace.holdersOf(name).length > 0;
  if (!isHeld && (state === "idle" || state === "pending" || state === "disabled"))
    throw createError("not_connected", `"${name}" is not connected`, { serverName: name });
  await host.disconnect(name, { owner: workplace.agent });
  workplace.setHolding(name, undefined);
  context.answer(
    serverObject(host.server(name)),
    `✓ ${neutralizeLine(name)} disconnected; what was allowed of it in this session is forgotten`,
  );
  return 0;
}

async function switchedOn(
  context: CommandContext,
  workplace: Workplace,
  status: ServerStatus,
): Promise<ServerStatus> {
  const { name, config } = status;
  if (config.enabled) return status;
  const whole = await workplace.wholeHost();
  const enabled = await whole.enable(name);
  context.answerLine(
    `"${neutralizeLine(name)}" was switched off, and is on (${displayOrigin(enabled, context.standpoint)}).`,
  );
  return enabled;
}

/** A connection that a call has opened for everybody is not the agent's, and nobody else has claimed it. */
async function freeUnclaimed(workplace: Workplace, host: SharedHost, name: string): Promise<void> {
  const isClaimed = workplace.holdersOf(name).length > 0;
  if (!isClaimed && host.server(name).state === "connected") await host.disconnect(name);
}

async function start(
  context: CommandContext,
  workplace: Workplace,
  {
    host,
    wish,
    isShared,
  }: { readonly host: SharedHost; readonly wish: ConnectWish; readonly isShared: boolean },
): Promise<ServerStatus> {
  const { name, timeoutMs } = wish;
  const progress = new ProgressLine(context);
  const { status } = await connectServer(context, host, {
    name,
    progress,
    timeoutMs,
    owner: workplace.agent,
    shared: isShared,
    // Until the second gate is passed nothing runs without a question.
    mode: "ask-per-tool",
  });
  return status;
}

function sayWhatIsThere(
  context: CommandContext,
  workplace: Workplace,
  { host, status }: { readonly host: SharedHost; readonly status: ServerStatus },
): void {
  const counts: Record<ToolClaim, number> = { "read-only": 0, write: 0, destructive: 0 };
  for (const { annotations } of status.tools) counts[claimOf(annotations)] += 1;
  const claims = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([claim, count]) => `${count} ${claim}`);
  const said = claims.length === 0 ? "" : ` (server says: ${claims.join(", ")})`;
  const tools = workplace.session(host).tools();
  const tokens = estimateTokens(tools.filter(({ serverName }) => serverName === status.name));
  context.answerLine(`${toolsText(status)}${said}  ~${tokens} tokens`);
  const held = quarantineNote(status, context.standpoint);
  if (held !== undefined) context.notice(`▲ ${held}`);
}

/** How tools may be used: the mode, and those that were chosen one by one. */
interface ToolUse {
  readonly mode: ConsentMode;
  readonly tools: readonly string[];
}

/** Undefined: not at all. */
async function decideUse(
  context: CommandContext,
  workplace: Workplace,
  { status, wish }: { readonly status: ServerStatus; readonly wish: ConnectWish },
): Promise<ToolUse | undefined> {
  if (wish.mode !== undefined) return { mode: wish.mode, tools: [] };
  if (workplace.level === "yolo") return { mode: "allow-all", tools: [] };
  if (!canAsk(context)) {
    context.notice("Nobody can be asked here: --allow-all or --per-tool answers beforehand.");
    return undefined;
  }
  const { dialogue, signal } = context;
  dialogue.note(
    "Tool use:  1 allow all, this session   2 ask for each tool   3 choose…   n disconnect",
  );
  const answer = await dialogue.ask("[1/2/3/n] ", signal);
  if (answer === "1") return { mode: "allow-all", tools: [] };
  if (answer === "2") return { mode: "ask-per-tool", tools: [] };
  return answer === "3" ? await choose(context, status) : undefined;
}

/** Tools that may destroy something are asked about in any case. */
async function choose(
  { dialogue, signal }: CommandContext,
  { tools }: ServerStatus,
): Promise<ToolUse | undefined> {
  const offered = tools.filter(({ annotations }) => claimOf(annotations) !== "destructive");
  for (const [index, { name, annotations }] of offered.entries())
    dialogue.note(`  ${index + 1}  ${neutralizeLine(name)}  (${claimOf(annotations)})`);
  for (;;) {
    const line = await dialogue.ask(
      "Without asking (numbers with commas; Enter: none; n disconnects): ",
      signal,
    );
    if (line === undefined || /^no?$/i.test(line)) return undefined;
    const words = line.split(/[\s,]+/).filter((word) => word !== "");
    const chosen = words.map((word) => offered[Number(word) - 1]?.name);
    if (!chosen.includes(undefined))
      return { mode: "ask-per-tool", tools: chosen.filter((name) => name !== undefined) };
    dialogue.note(`  ⚠ numbers from 1 to ${offered.length}`);
  }
}

async function wantsToShare(context: CommandContext, workplace: Workplace): Promise<boolean> {
  if (workplace.level === "yolo" || !canAsk(context)) return false;
  const { dialogue, signal } = context;
  const answer = await dialogue.ask("Share with other agents in this host?  [y/N] ", signal);
  return /^y(?:es)?$/i.test(answer ?? "");
}

function sayHowItIsKept(
  context: CommandContext,
  {
    status,
    kept,
    tools,
    sharer,
  }: {
    readonly status: ServerStatus;
    readonly kept: Holding;
    readonly tools: readonly string[];
    readonly sharer: string | undefined;
  },
): void {
  const chosen = tools.length === 0 ? [] : [`without asking: ${neutralizeLine(tools.join(", "))}`];
  const by = sharer === undefined ? [] : [`by ${neutralizeLine(sharer)}`];
  const note = [holdingNote(kept), ...by].join(" ");
  const text = [`✓ ${neutralizeLine(status.name)} connected`, note, ...chosen].join(" · ");
  context.answer(connectedObject(status), text);
}

function sayWhatIsAllowed(
  context: CommandContext,
  { agent }: Workplace,
  host: SharedHost,
  name: string,
): void {
  const tools = host.server(name).tools.map((tool) => tool.name);
  const list = neutralizeLine(tools.join(", ")) || "whatever it lists";
  context.notice(`  ${neutralizeLine(agent)} may call without asking, until it is let go: ${list}`);
}

/** A name that is connected stays so; what was typed may still change how often its tools are asked about. */
async function connectAgain(
  context: CommandContext,
  workplace: Workplace,
  {
    host,
    wish,
    holding,
  }: { readonly host: SharedHost; readonly wish: ConnectWish; readonly holding: Holding },
): Promise<number> {
  const { name, mode = holding.mode, isShared = holding.isShared } = wish;
  const shown = neutralizeLine(name);
  if (isShared !== holding.isShared)
    throw createError(
      "invalid_arguments",
      `"${name}" is connected already, ${holding.isShared ? "shared" : "private"}`,
      { serverName: name, hint: `plugboard disconnect ${shown}, then connect it again` },
    );
  if (mode !== holding.mode) {
    const owner = workplace.agent;
    await host.connect(name, { owner, shared: isShared, mode, signal: context.signal });
    workplace.setHolding(name, { isShared, mode });
  }
  const note = holdingNote({ isShared, mode });
  context.answer(connectedObject(host.server(name)), `✓ ${shown} is connected already · ${note}`);
  return 0;
}

/** The object of `connect --json`: nothing was told to programs that run. */
function connectedObject(status: ServerStatus): object {
  return { enabled: true, tested: true, told: false, ...serverObject(status) };
}

function unaskedLaunch(name: string): Error {
  return createError(
    "not_approved",
    `"${name}" is not approved, and at level yolo nobody is asked`,
    {
      serverName: name,
      hint: `plugboard approve ${name} shows what it starts`,
    },
  );
}
