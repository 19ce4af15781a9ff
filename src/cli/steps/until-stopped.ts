import { keepAliveUntil } from "../../ports/keep-alive.ts";
import type { CommandContext } from "../context/command-context.ts";

/**
 * Waits until the user or the system ends a command that would otherwise go on for ever. Ctrl-C is how
 * such a command is meant to end, so its exit code is 0; other signals give their own.
 */
export async function untilStopped({ terminal, interruption }: CommandContext): Promise<number> {
  // While all servers are idle nothing else keeps the process alive.
  await keepAliveUntil(Promise.race([aborted(interruption.signal), aborted(terminal.readerGone)]));
  return interruption.received === "SIGINT" ? 0 : (interruption.exitCode ?? 0);
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
