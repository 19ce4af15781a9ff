/** Signals that ask a command to end, with the exit code the shell expects of it. */
const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export type StopSignal = keyof typeof exitCodes;

export interface Interruption {
  /** Aborts at the first such signal. */
  readonly signal: AbortSignal;
  readonly received: StopSignal | undefined;
  /** The exit code of a command that was cut short; undefined when it was not. */
  readonly exitCode: number | undefined;
  /** From here on SIGINT is what this makes of it: where Ctrl-C ends one of several commands, and not the process. */
  readonly takeInterrupts?: (handle: () => void) => void;
}

/** One Ctrl-C arrives twice when a parent such as npm passes on what the terminal also sent us. */
const echoMs = 500;

/**
 * Ends the process as the signal itself would, once the exit hooks have run: `process.exit` alone waits for threads,
 * and one that reads a file may wait for ever.
 */
function endBy(name: StopSignal): never {
  process.once("exit", () => {
    process.removeAllListeners(name);
    process.kill(process.pid, name);
  });
  process.exit(exitCodes[name]);
}

/**
 * From here on the first signal lets the command end what it is doing, and a second one ends the
 * process at once; the host's exit hook then kills what is left of the servers.
 */
export function watchSignals(): Interruption {
  const controller = new AbortController();
  let received: StopSignal | undefined;
  let receivedAt = 0;
  let handleInterrupt: (() => void) | undefined;
  for (const name of Object.keys(exitCodes) as StopSignal[])
    process.on(name, () => {
      if (name === "SIGINT" && handleInterrupt !== undefined) handleInterrupt();
      else if (received === undefined) {
        received = name;
        receivedAt = performance.now();
        controller.abort();
      } else if (performance.now() - receivedAt > echoMs) endBy(name);
    });
  return {
    signal: controller.signal,
    get received() {
      return received;
    },
    get exitCode() {
      return received === undefined ? undefined : exitCodes[received];
    },
    takeInterrupts: (handle) => {
      handleInterrupt = handle;
    },
  };
}
