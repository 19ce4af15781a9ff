import type { CommandContext } from "./command-context.ts";

/**
 * Waits until the user or the system ends a command that would otherwise go on for ever. Ctrl-C is how
 * such a command is meant to end, so its exit code is 0; other signals give their own.
 */
export async function untilStopped({ terminal, interruption }: CommandContext): Promise<number> {
  const stopped = AbortSignal.any([interruption.signal, terminal.readerGone]);
  // Nothing else may keep the process alive while all servers are idle.
  const keepAlive = setInterval(() => {}, 0x7fff_ffff);
  try {
    if (!stopped.aborted)
      await new Promise<void>((resolve) => {
        stopped.addEventListener("abort", () => resolve(), { once: true });
      });
  } finally {
    clearInterval(keepAlive);
  }
  return interruption.received === "SIGINT" ? 0 : (interruption.exitCode ?? 0);
}
