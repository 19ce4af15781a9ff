import type { Socket } from "node:net";

/** The reading of one response, as undici hands it out. */
export interface PausableRead {
  pause(): void;
  resume(): void;
}

/**
 * Reads that are paused. undici's parser fails an assertion, which ends the process, when a
 * connection ends at that very moment and the response has no end of its own; so a server could end
 * this process at will. Which connection a read belongs to it does not tell: there are never many.
 */
const paused = new Set<PausableRead>();

let isEnding = false;

/** Reads a little further all the same while a connection ends. */
export function pauseRead(read: PausableRead): void {
  if (isEnding) return;
  paused.add(read);
  read.pause();
}

export function resumeRead(read: PausableRead): void {
  if (paused.delete(read)) read.resume();
}

/** It is over, or about to be cut off. */
export function forgetRead(read: PausableRead): void {
  paused.delete(read);
}

/** Makes a fresh connection one on which reads may be paused. */
export function allowPausing(socket: Socket): Socket {
  // Before undici hears of it. A read of another connection gets no more than what has arrived.
  socket.prependListener("end", () => {
    isEnding = true;
    try {
      for (const read of paused) resumeRead(read);
    } finally {
      isEnding = false;
    }
  });
  // undici takes a reset for the end of such a response, and runs into the same assertion.
  return socket.prependListener("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ECONNRESET") error.code = "ECONNABORTED";
  });
}
