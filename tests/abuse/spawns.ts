import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";

export interface Spawn {
  readonly process: ChildProcess;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Whatever this process tries to start until the task is over, but for the watchdog of its servers. */
export async function watchSpawns(task: () => Promise<void>): Promise<readonly Spawn[]> {
  const spawns = new Map<ChildProcess, Spawn>();
  const started = (message: unknown): void => {
    const { process } = message as { readonly process: ChildProcess };
    if (!spawns.has(process)) spawns.set(process, { process, at: Date.now() });
  };
  subscribe("child_process", started);
  try {
    await task();
  } finally {
    unsubscribe("child_process", started);
  }
  return [...spawns.values()].filter(({ process: { spawnargs } }) => !isWatchdog(spawnargs));
}

function isWatchdog(words: readonly string[] | undefined): boolean {
  return words?.includes("plugboard-watchdog") === true;
}
