import type { EventBus } from "../events/event-bus.ts";
import type { HostEvent } from "../events/host-event.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";

/** A server decides how many warnings there are about it; the logger takes this many of them a minute. */
const maxPerMinute = 20;
const minuteMs = 60_000;

export interface LoggedWarnings {
  /** The logger for work that nobody waits for: it publishes warnings and errors as `warning` events as well. */
  readonly background: Logger;
  /** Publishes a warning that may come before anybody can listen: until `begin` it waits. */
  readonly announce: (text: string) => void;
  /** Publishes the warnings that wait, a turn later: the program that gets the host now can subscribe first. */
  readonly begin: () => void;
  /**
   * Publishes the warnings that wait and ends the logging of events: failures while everything stops are not
   * logged.
   */
  readonly end: () => void;
}

/**
 * Keeps logger and events in step: the logger hears of `warning` events, and a program that reads only
 * events learns that something could not be kept.
 */
export function logWarnings(logger: Logger, events: EventBus, clock: Clock): LoggedWarnings {
  const logged = new WeakSet<HostEvent>();
  const minutes = new Map<string | undefined, { readonly since: number; count: number }>();
  const unsubscribe = events.on("warning", (event) => {
    if (logged.has(event)) return;
    const { text, serverName, at } = event;
    const known = minutes.get(serverName);
    const minute =
      known !== undefined && at - known.since < minuteMs ? known : { since: at, count: 0 };
    minutes.set(serverName, minute);
    minute.count += 1;
    if (minute.count > maxPerMinute + 1) return;
    const isOneTooMany = minute.count > maxPerMinute;
    const told = isOneTooMany ? "further warnings of this minute are `warning` events only" : text;
    logger.warn(told, serverName === undefined ? {} : { serverName });
  });
  const publish = (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    const { error } = fields;
    const reason = typeof error === "string" ? error.replace(/^\w*Error: /, "") : undefined;
    const text = reason === undefined ? message : `${message}: ${reason}`;
    const event = { type: "warning", text, at: clock.now() } as const;
    logged.add(event);
    events.emit(event);
  };
  const background: Logger = {
    debug: (message, fields) => logger.debug(message, fields),
    info: (message, fields) => logger.info(message, fields),
    warn(message, fields) {
      logger.warn(message, fields);
      publish(message, fields);
    },
    error(message, fields) {
      logger.error(message, fields);
      publish(message, fields);
    },
  };
  const waiting: string[] = [];
  let isHeard = false;
  const tell = (text: string): void => events.emit({ type: "warning", text, at: clock.now() });
  const listen = (): void => {
    isHeard = true;
    waiting.splice(0).forEach(tell);
  };
  return {
    background,
    announce: (text) => (isHeard ? tell(text) : void waiting.push(text)),
    // The timer keeps no idle program alive: the end of the host publishes the warnings instead.
    begin: () => void setImmediate(listen).unref(),
    end: () => {
      listen();
      unsubscribe();
    },
  };
}
