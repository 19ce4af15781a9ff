import type { EventBus } from "../events/event-bus.ts";
import type { HostEvent } from "../events/host-event.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";

/** A server decides how many warnings there are about it; the logger takes this many of them a minute. */
const maxPerMinute = 20;
const minuteMs = 60_000;

export interface LoggedWarnings {
  /** For work that nobody waits for: its warnings and errors are `warning` events as well. */
  readonly background: Logger;
  /** A warning that may come before anybody can listen: it waits for `begin`. */
  readonly announce: (text: string) => void;
  /** The host is about to be handed out; what waits is told behind what the program does first with it. */
  readonly begin: () => void;
  /** Tells what waits and ends the logging of events. What goes wrong while everything is being stopped is no news. */
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
    // It holds no program that has nothing else to do: the end of the host tells what waits.
    begin: () => void setImmediate(listen).unref(),
    end: () => {
      listen();
      unsubscribe();
    },
  };
}
