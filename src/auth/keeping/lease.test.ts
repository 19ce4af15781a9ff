import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readlinkSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { deferred } from "../../../tests/host/deferred.ts";
import { type Clock, systemClock } from "../../ports/clock.ts";
import { HostStore } from "../../store/host-store.ts";
import { type LeaseOptions, underLease } from "./lease.ts";

const ignore = (): void => undefined;
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const name = "sign-in/x";

/** Whoever stands still is given up within milliseconds. */
const hastyClock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() * 1_000 };
/** A process that stands still: it never says that it is at work. */
const stoppedClock: Clock = { ...systemClock, schedule: () => ({ cancel: ignore }) };

let location = "";
let store: HostStore;

beforeEach(() => {
  location = path.join(mkdtempSync(path.join(tmpdir(), "lease-")), "store.db");
  store = new HostStore({ location, clock: systemClock, logger });
});

afterEach(async () => {
  await store.close();
});

function options(clock: Clock = systemClock, signal?: AbortSignal): LeaseOptions {
  return { store, clock, signal: signal ?? new AbortController().signal };
}

async function isTaken(): Promise<boolean> {
  return (await store.read(({ leases }) => leases.look(name), undefined)) !== undefined;
}

/** This machine, as holders name it. */
function here(): string {
  try {
    return `${hostname()}/${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

describe("a lease", () => {
  it("AUT-17 G9: is held by one at a time, and given back also by a task that fails", async () => {
    let inside = 0;
    let most = 0;
    const task = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      throw new Error("failed");
    };
    const all = Array.from({ length: 10 }, () => underLease(name, task, options()));
    for (const one of await Promise.allSettled(all)) expect(one.status).toBe("rejected");
    expect(most).toBe(1);
    expect(await isTaken()).toBe(false);
  });

  it("is no obstacle to tasks of another name", async () => {
    const inside = await underLease(
      name,
      () => underLease("sign-in/y", async () => "inside", options()),
      options(),
    );
    expect(inside).toBe("inside");
  });

  it("G9: of a process that has ended on this machine holds up nobody", async () => {
    const child = spawn(process.execPath, ["-e", ""]);
    await once(child, "exit");
    await store.write(({ leases }) => leases.take(name, `${here()} ${child.pid} x`));
    // Time stands still: nobody waits for a beat.
    const frozen = { ...systemClock, monotonic: () => 0 };
    expect(await underLease(name, async () => "mine", options(frozen))).toBe("mine");
  });

  it.each([
    ["of another machine", () => `elsewhere/pid:[1] ${process.pid} x`],
    ["that stands still", () => `${here()} ${process.pid} x`],
  ])(
    "G9: of a process %s is taken over when its beat has stopped, and not before",
    async (_title, holder) => {
      await store.write(({ leases }) => leases.take(name, holder()));
      let now = 0;
      // Each look at the clock is a second later; the beat goes on for some of them.
      const clock: Clock = {
        ...systemClock,
        monotonic: () => (now += 1_000),
        schedule: (_delayMs, task) => {
          if (now < 20_000)
            void store.write(({ leases }) => leases.beat(name, holder())).then(task);
          else setImmediate(task);
          return { cancel: ignore };
        },
      };
      expect(await underLease(name, async () => "mine", options(clock))).toBe("mine");
      expect(now).toBeGreaterThan(20_000);
    },
  );

  it("J5: has no time of day in it", async () => {
    await store.write(({ leases }) => leases.take(name, "elsewhere/pid:[1] 1 x"));
    const clock = { ...hastyClock, now: (): number => Number.NaN };
    expect(await underLease(name, async () => "mine", options(clock))).toBe("mine");
  });

  it("G9: that was lost is known to be lost, and is not given back in another's name", async () => {
    const inside = deferred();
    const goOn = deferred();
    const lost = underLease(
      name,
      async (lease) => {
        expect(await lease.isHeld()).toBe(true);
        inside.resolve();
        await goOn.promise;
        return await lease.isHeld();
      },
      options(stoppedClock),
    );
    await inside.promise;
    await underLease(
      name,
      async (lease) => {
        goOn.resolve();
        expect(await lost).toBe(false);
        expect(await lease.isHeld()).toBe(true);
      },
      options(hastyClock),
    );
    expect(await isTaken()).toBe(false);
  });

  it("is not waited for any more by whoever is cancelled", async () => {
    const stop = new AbortController();
    await underLease(
      name,
      async () => {
        const waiting = underLease(name, async () => "never", options(systemClock, stop.signal));
        stop.abort();
        await expect(waiting).rejects.toMatchObject({ code: "cancelled" });
      },
      options(),
    );
  });

  it("needs no store where nobody shares one", async () => {
    const none = new HostStore({ location: undefined, clock: systemClock, logger });
    const held = underLease(name, (lease) => lease.isHeld(), { ...options(), store: none });
    expect(await held).toBe(true);
  });
});
