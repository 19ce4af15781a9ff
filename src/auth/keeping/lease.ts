import { randomUUID } from "node:crypto";
import { readlinkSync } from "node:fs";
import { hostname } from "node:os";

import { startPause } from "../../async/stop.ts";
import { createError } from "../../errors/families.ts";
import type { Clock, Timer } from "../../ports/clock.ts";
import type { HostStore } from "../../store/host-store.ts";
import type { LeaseState } from "../../store/rows/lease-rows.ts";

const beatMs = 1_000;
/** A holder whose beat has stopped for this long is taken for dead. */
const patienceMs = 6 * beatMs;
const firstLookMs = 10;
const longestLookMs = 200;

export interface LeaseOptions {
  readonly store: HostStore;
  readonly clock: Clock;
  /** Ends the wait for the lease, not the task. */
  readonly signal: AbortSignal;
}

/** A lease that is held. */
export interface HeldLease {
  /** Whether it is still held: a process that stood still for long may have lost it. */
  isHeld(): Promise<boolean>;
}

/**
 * Runs `task` while no other process that shares the store runs one under the same name. A holder that was killed
 * holds up nobody on its own machine, and others for some seconds. Without a store there is no other process.
 */
export async function underLease<T>(
  name: string,
  task: (lease: HeldLease) => Promise<T>,
  options: LeaseOptions,
): Promise<T> {
  const { store, clock } = options;
  if (!store.isPersistent) return await task({ isHeld: () => Promise.resolve(true) });
  const holder = `${thisPlace()} ${process.pid} ${randomUUID()}`;
  await acquire(name, holder, options);
  let timer: Timer | undefined;
  const beat = async (): Promise<boolean> =>
    (await store.write(({ leases }) => leases.beat(name, holder)).catch(() => undefined)) === true;
  const keepBeating = (): void => {
    timer = clock.schedule(beatMs, () => {
      void beat().then((isHeld) => {
        if (isHeld && timer !== undefined) keepBeating();
      });
    });
  };
  keepBeating();
  try {
    return await task({ isHeld: beat });
  } finally {
    timer?.cancel();
    timer = undefined;
    await store.write(({ leases }) => leases.release(name, holder)).catch(() => undefined);
  }
}

async function acquire(
  name: string,
  holder: string,
  { store, clock, signal }: LeaseOptions,
): Promise<void> {
  let seen: LeaseState | undefined;
  let seenAt = clock.monotonic();
  for (let waitMs = firstLookMs; ; waitMs = Math.min(waitMs * 2, longestLookMs)) {
    if (signal.aborted)
      throw createError("cancelled", "the wait for another process was cancelled");
    if ((await store.write(({ leases }) => leases.take(name, holder))) === true) return;
    const found = await store.read(({ leases }) => leases.look(name), undefined);
    if (found === undefined) continue;
    if (found.holder !== seen?.holder || found.beat !== seen.beat) {
      seen = found;
      seenAt = clock.monotonic();
    }
    const isStale = clock.monotonic() - seenAt >= patienceMs || isGone(found.holder);
    const lease = found;
    if (isStale && (await store.write(({ leases }) => leases.takeOver(name, lease, holder))))
      return;
    await startPause(clock, waitMs, signal).over;
  }
}

/**
 * Names where process ids mean the same: this machine, and on Linux this container. A container has ids of its own,
 * though it may share the name of the machine.
 */
function thisPlace(): string {
  try {
    return `${hostname()}/${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

/** Whether a holder is known to have ended. One of another machine never is. */
function isGone(holder: string): boolean {
  const [place, pid] = holder.split(" ");
  if (place !== thisPlace() || pid === undefined) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
