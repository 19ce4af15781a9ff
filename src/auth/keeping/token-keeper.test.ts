import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { describe, expect, it } from "vitest";

import { OpenedSignIn } from "../../../tests/fixtures/oauth/opened-sign-in.ts";
import { SignInPlace } from "../../../tests/fixtures/oauth/sign-in-place.ts";
import { deferred } from "../../../tests/host/deferred.ts";
import { type Clock, systemClock } from "../../ports/clock.ts";
import { MemoryVault } from "../../secrets/memory-vault.ts";
import type { SecretVault } from "../../secrets/secret-vault.ts";
import { HostStore } from "../../store/host-store.ts";

const ignore = (): void => undefined;
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Time stands still: what waits for it waits for ever, and nothing beats. */
const stoppedClock: Clock = { ...systemClock, schedule: () => ({ cancel: ignore }) };

/** A thousand seconds a second: whoever stands still is given up at once. */
const hastyClock: Clock = {
  ...systemClock,
  monotonic: () => systemClock.monotonic() * 1_000,
};

/** A vault whose reader stands still once: it goes on with what it had read before. */
class StandstillVault implements SecretVault {
  readonly #vault: SecretVault;
  #hold: { readonly reached: () => void; readonly go: Promise<void> } | undefined;

  constructor(vault: SecretVault) {
    this.#vault = vault;
  }

  /** Stops the next reader; `reached` resolves when it stands, `go` lets it go on. */
  stopNext(): { readonly reached: Promise<void>; readonly go: () => void } {
    const reached = deferred();
    const go = deferred();
    this.#hold = { reached: reached.resolve, go: go.promise };
    return { reached: reached.promise, go: go.resolve };
  }

  async read(name: string): Promise<string | undefined> {
    const value = await this.#vault.read(name);
    const hold = this.#hold;
    this.#hold = undefined;
    hold?.reached();
    await hold?.go;
    return value;
  }

  write(name: string, value: string): Promise<void> {
    return this.#vault.write(name, value);
  }

  remove(name: string): Promise<boolean> {
    return this.#vault.remove(name);
  }

  names(prefix: string): Promise<readonly string[]> {
    return this.#vault.names(prefix);
  }
}

/** A process that is stopped while it renews, and another one that takes its turn over. */
async function open() {
  const place = await SignInPlace.open();
  const { url } = place.server;
  const location = path.join(mkdtempSync(path.join(tmpdir(), "turns-")), "store.db");
  const store = new HostStore({ location, clock: systemClock, logger });
  const shared = new MemoryVault();
  const vault = new StandstillVault(shared);
  const stopped = new OpenedSignIn({ url, vault, store, clock: stoppedClock });
  const other = new OpenedSignIn({ url, vault: shared, store, clock: hastyClock });
  await other.login();
  await stopped.signIn.prepare();
  const fields = await stopped.fields();
  const standstill = vault.stopNext();
  const renewed = stopped.signIn.refused({
    status: 401,
    challenge: "Bearer",
    dpopNonce: undefined,
    fields,
    repeats: 0,
  });
  await standstill.reached;
  return {
    place,
    stopped,
    other,
    goOn: async () => {
      standstill.go();
      return await renewed;
    },
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await place[Symbol.asyncDispose]();
    },
  };
}

describe("a process that stood still while it renewed a token", () => {
  it("G9: takes what another one got, though its own request was granted, too", async () => {
    await using turn = await open();
    await turn.other.signIn.rotate();
    expect(await turn.goOn()).toBe("next");
    expect(await turn.stopped.fields()).toEqual(await turn.other.fields());
    await turn.other.signIn.rotate();
    expect(turn.place.auth.counts.invalidGrant).toBe(0);
  });

  it("G9: does not end the sign-in, though its own request was refused", async () => {
    await using turn = await open();
    // With the second one the issuer ends the token that the stopped process holds.
    await turn.other.signIn.rotate();
    await turn.other.signIn.rotate();
    expect(await turn.goOn()).toBe("next");
    expect(turn.place.auth.counts.invalidGrant).toBe(1);
    expect(await turn.stopped.fields()).toEqual(await turn.other.fields());
    await turn.other.signIn.rotate();
    expect(await turn.other.signIn.status()).toMatchObject({ canRenew: true });
  });

  it("does not bring back a sign-in that was ended meanwhile", async () => {
    await using turn = await open();
    await turn.other.signIn.logout();
    expect(await turn.goOn()).toMatchObject({ code: "auth_required" });
    expect(await turn.stopped.signIn.status()).toBeUndefined();
  });
});
