import type { EventBus } from "../events/event-bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";

/**
 * A logger for work that nobody waits for. Its warnings and errors are events of the host as well: a
 * program without a logger would never learn that something could not be kept.
 */
export function logBackgroundFailures(logger: Logger, events: EventBus, clock: Clock): Logger {
  const publish = (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    const { error } = fields;
    const reason = typeof error === "string" ? error.replace(/^\w*Error: /, "") : undefined;
    const text = reason === undefined ? message : `${message}: ${reason}`;
    events.emit({ type: "warning", text, at: clock.now() });
  };
  return {
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
}
