import { EventEmitter, getEventListeners, getMaxListeners, setMaxListeners } from "node:events";

/** Most signals never have as many; below it the platform says nothing. */
const manyListeners = 5;

/**
 * To be called before somebody else's signal is listened to. One signal may call off any number of
 * calls, and each of them listens to it: the platform would tell the user of a leak after the tenth.
 * What was set for the signal on purpose stays.
 */
export function expectManyListeners(signal: AbortSignal): void {
  // Lifting the limit takes longer than all the rest of listening, so a signal of one call is left alone.
  if (isLimitedByDefault(signal) && getEventListeners(signal, "abort").length >= manyListeners)
    setMaxListeners(Number.POSITIVE_INFINITY, signal);
}

function isLimitedByDefault(signal: AbortSignal): boolean {
  try {
    return getMaxListeners(signal) === EventEmitter.defaultMaxListeners;
  } catch {
    // Node 20 throws for a limit of 0, which is none, and for a signal that is not the platform's.
    return false;
  }
}
