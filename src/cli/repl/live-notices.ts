import type { HostEvent, HostEventOf } from "../../events/host-event.ts";
import { type Clock, systemClock, type Timer } from "../../ports/clock.ts";
import { type Logger, logText } from "../../ports/logger.ts";
import { ownCommand, ownCommandsIn } from "../../text/own-command.ts";
import { boundedLine } from "../../text/untrusted/bounded-text.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import { stateWord } from "../output/server-status.ts";

const pauseMs = 1_000;
const maxTextChars = 160;

export interface NoticeOptions {
  readonly write: (text: string) => void;
  /** Whether a command runs: it tells what becomes of its server itself. */
  readonly isBusy: () => boolean;
  readonly clock?: Clock | undefined;
}

/** A notice that waits until its server may be mentioned again. */
interface Pause {
  readonly timer: Timer;
  latest: string | undefined;
  skipped: number;
}

/**
 * What happens beside the commands, a line each. Of one server at most one in a second: of several the last, with the
 * number of the others.
 */
export class LiveNotices {
  /** Shows what servers log, too. */
  showsLogs = false;
  readonly #options: NoticeOptions;
  readonly #pauses = new Map<string, Pause>();

  constructor(options: NoticeOptions) {
    this.#options = options;
  }

  readonly tell = (event: HostEvent): void => {
    const text = this.#textOf(event);
    if (text === undefined) return;
    this.say("serverName" in event ? (event.serverName ?? "") : "", text);
  };

  /** Tells a line about a server, or about none, when its turn has come. */
  say(server: string, text: string): void {
    const pause = this.#pauses.get(server);
    if (pause === undefined) {
      this.#write(server, text);
      return;
    }
    if (pause.latest !== undefined) pause.skipped += 1;
    pause.latest = text;
  }

  /** Tells nothing any more. */
  close(): void {
    for (const { timer } of this.#pauses.values()) timer.cancel();
    this.#pauses.clear();
  }

  #write(server: string, text: string): void {
    this.#options.write(text);
    const { clock = systemClock } = this.#options;
    const timer = clock.schedule(pauseMs, () => this.#resume(server));
    this.#pauses.set(server, { timer, latest: undefined, skipped: 0 });
  }

  #resume(server: string): void {
    const { latest, skipped = 0 } = this.#pauses.get(server) ?? {};
    this.#pauses.delete(server);
    if (latest === undefined) return;
    this.#write(server, skipped === 0 ? latest : `${latest} (and ${skipped} more before)`);
  }

  /** Undefined for what nobody waits for. */
  #textOf(event: HostEvent): string | undefined {
    const isBusy = this.#options.isBusy();
    if (event.type === "server-state") return isBusy ? undefined : stateText(event);
    if (event.type === "tool-quarantined") return isBusy ? undefined : quarantineText(event);
    if (event.type === "tools-changed") return changeText(event);
    if (event.type !== "server-log" || !this.showsLogs) return undefined;
    const { serverName, level, text } = event;
    return `  ${neutralizeLine(serverName)} ${neutralizeLine(level)}: ${bounded(text)}`;
  }
}

function stateText({ state, serverName, error }: HostEventOf<"server-state">): string | undefined {
  if (state === "connecting") return undefined;
  const why = error === undefined ? "" : `: ${bounded(error.message)}`;
  return `${stateWord(state)}  ${neutralizeLine(serverName)}${why}`;
}

function changeText(event: HostEventOf<"tools-changed">): string | undefined {
  const { serverName, toolCount, added, removed, changed } = event;
  const changes = [
    countOf("new", added),
    countOf("gone", removed),
    countOf("changed", changed),
  ].filter((text) => text !== "");
  // The first list of a server is no change.
  if (changes.length === 0 || added.length === toolCount) return undefined;
  return `· ${neutralizeLine(serverName)}: tools changed (${changes.join(", ")})`;
}

function quarantineText(event: HostEventOf<"tool-quarantined">): string {
  const { serverName, toolName, reason } = event;
  const server = neutralizeLine(serverName);
  const why = reason === "changed" ? "changed" : "reads like an attack";
  const approve = ownCommand("approve", serverName, [], "/mcp");
  return `▲ ${server}: ${bounded(toolName)} ${why} and is held back → ${approve}`;
}

/** A logger whose warnings are notices like any other; the rest goes where it went. */
export function pacedLogger(logger: Logger, notices: LiveNotices): Logger {
  return {
    debug: (message, fields) => logger.debug(message, fields),
    info: (message, fields) => logger.info(message, fields),
    error: (message, fields) => logger.error(message, fields),
    warn: (message, fields = {}) => {
      const { serverName } = fields;
      const server = typeof serverName === "string" ? serverName : "";
      const text = ownCommandsIn(logText(message, fields), "/mcp");
      notices.say(server, `⚠ ${neutralizeLine(text)}`);
    },
  };
}

function countOf(word: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  return `${word}: ${bounded(names.slice(0, 3).join(", "))}${names.length > 3 ? ", …" : ""}`;
}

function bounded(text: string): string {
  return boundedLine(text, maxTextChars);
}
