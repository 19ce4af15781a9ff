import { createError } from "../errors/families.ts";
import type { Clock } from "../ports/clock.ts";
import { untilAborted } from "../ports/until-aborted.ts";
import { durationText } from "../protocol/duration-text.ts";

export interface HandlerRun {
  readonly toolName: string;
  readonly signal: AbortSignal | undefined;
  /** `0` means no deadline. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** What a timer of the platform can be set to. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * What `handler` comes to, unless its time is over or the caller gives up before. A handler that does
 * not heed its signal goes on, but nobody waits for it any more.
 */
export async function runHandler(
  handler: (signal: AbortSignal) => unknown,
  { toolName, signal, timeoutMs, clock }: HandlerRun,
): Promise<unknown> {
  const stop = new AbortController();
  const giveUp = (): void =>
    stop.abort(createError("cancelled", "cancelled by the caller", { details: { toolName } }));
  const timer =
    timeoutMs > 0
      ? clock.schedule(Math.min(timeoutMs, longestTimerMs), () =>
          stop.abort(
            createError("timeout", `${toolName} did not finish within ${durationText(timeoutMs)}`, {
              details: { toolName, timeoutMs },
            }),
          ),
        )
      : undefined;
  signal?.addEventListener("abort", giveUp, { once: true });
  try {
    // Inside an async function, so that what is thrown at once is a rejection like any other.
    return await untilAborted((async () => await handler(stop.signal))(), stop.signal);
  } finally {
    timer?.cancel();
    signal?.removeEventListener("abort", giveUp);
  }
}
