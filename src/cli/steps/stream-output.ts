import { joinSignals } from "../../async/stop.ts";
import { untilAborted } from "../../async/until-aborted.ts";
import type { CommandContext } from "../context/command-context.ts";

/** Aborts when nobody wants more of an output that may be endless: Ctrl-C, or a reader that has gone. */
export function endOfOutput({ signal, terminal }: CommandContext): AbortSignal {
  return joinSignals(signal, terminal.readerGone);
}

/** Waits until what was written has been read, or nobody wants more: a slow reader must not fill the memory. */
export async function untilRead({ terminal }: CommandContext, end: AbortSignal): Promise<void> {
  await untilAborted(terminal.flush(), end).catch(() => undefined);
}

/** The exit code of a command that followed something: interrupted, unless its reader had enough. */
export function followExitCode({ interruption }: CommandContext): number {
  return interruption.exitCode ?? 0;
}
