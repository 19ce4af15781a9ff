import type { Logger } from "../ports/logger.ts";

/** Runs a handler whose failure must not become ours: it is logged, and the caller goes on. */
export function contain(task: () => void, logger: Logger, serverName: string): void {
  try {
    task();
  } catch (error) {
    logger.error("a handler failed", { serverName, error: String(error) });
  }
}
