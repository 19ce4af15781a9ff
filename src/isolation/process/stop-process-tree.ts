import type { Clock } from "../../ports/clock.ts";
import { keepAliveUntil } from "../../ports/keep-alive.ts";
import type { ProcessTree } from "./process-tree.ts";

export interface StopOptions {
  readonly tree: Pick<ProcessTree, "signal" | "signalLeftovers" | "release">;
  /** Resolves when the leader has ended; never rejects. */
  readonly exited: Promise<void>;
  /** Asks the leader to end by itself. */
  readonly endInput: () => void;
  readonly termAfterMs: number;
  /** For all steps together. */
  readonly graceMs: number;
  readonly clock: Clock;
}

/** SIGKILL is sent early enough for the kernel to have cleaned up when the grace ends. */
const killAtShareOfGrace = 0.95;
/** SIGKILL needs no consent, only time; what is stuck in the kernel for longer is not waited for. */
const killWaitMs = 1_000;
const firstPollMs = 5;
const longestPollMs = 100;

/**
 * Ends a whole process tree: end of input, SIGTERM, SIGKILL for the leader and its group; then
 * whatever is left behind, in other groups, too. Leftovers get one SIGTERM and no longer than a
 * leader gets before its own, because they must not hold up the end of a server that is gone.
 * Resolves when nothing is left and never rejects. A stop that nobody awaits is not cut off by the end
 * of the process either.
 */
export function stopProcessTree(options: StopOptions): Promise<void> {
  return keepAliveUntil(stop(options));
}

async function stop(options: StopOptions): Promise<void> {
  const { tree, exited, endInput, termAfterMs, graceMs, clock } = options;
  const killAt = clock.monotonic() + graceMs * killAtShareOfGrace;
  const untilKillMs = (): number => Math.max(0, killAt - clock.monotonic());

  endInput();
  if (!(await settlesWithin(exited, Math.min(termAfterMs, untilKillMs()), clock))) {
    tree.signal("SIGTERM");
    if (!(await settlesWithin(exited, untilKillMs(), clock))) {
      tree.signal("SIGKILL");
      await settlesWithin(exited, killWaitMs, clock);
    }
  }

  const areLeft = await tree.signalLeftovers("SIGTERM");
  if (areLeft && !(await leftoversEnd(options, 0, Math.min(termAfterMs, untilKillMs()))))
    // Signalled at every look: a child may be forked between the look and the signal.
    await leftoversEnd(options, "SIGKILL", killWaitMs);

  tree.release();
}

async function leftoversEnd(
  { tree, clock }: Pick<StopOptions, "tree" | "clock">,
  signal: "SIGKILL" | 0,
  withinMs: number,
): Promise<boolean> {
  const deadline = clock.monotonic() + withinMs;
  for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 2, longestPollMs)) {
    if (!(await tree.signalLeftovers(signal))) return true;
    const remainingMs = deadline - clock.monotonic();
    if (remainingMs <= 0) return false;
    await delay(Math.min(pollMs, remainingMs), clock);
  }
}

function delay(delayMs: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.schedule(delayMs, resolve));
}

function settlesWithin(promise: Promise<void>, limitMs: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.schedule(limitMs, () => resolve(false));
    void promise.then(() => {
      timer.cancel();
      resolve(true);
    });
  });
}
