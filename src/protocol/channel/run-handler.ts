import type { Logger } from "../../ports/logger.ts";

/** Runs a handler of somebody else. What it throws is logged, and the caller goes on. */
export function runHandler(task: () => void, logger: Logger, serverName: string): void {
  try {
    task();
  } catch (error) {
    reportHandlerFailure(error, logger, serverName);
  }
}

export function reportHandlerFailure(error: unknown, logger: Logger, serverName: string): void {
  logger.error("a handler failed", { serverName, error: String(error) });
}
