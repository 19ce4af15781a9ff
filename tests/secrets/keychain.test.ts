import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import path from "node:path";

import { afterEach, describe, expect, it } from "vitest";

import { ManualClock } from "../fixtures/protocol/manual-clock.ts";
import {
  environmentKey,
  newFolder,
  type OpenedVault,
  openVault,
  type OpenVaultOptions,
} from "../fixtures/secrets/open-vault.ts";
import { noSecretService, SecretService } from "../fixtures/secrets/secret-service.ts";
import { VaultProcess } from "../fixtures/secrets/vault-process.ts";

const opened: OpenedVault[] = [];

/** A vault that asks the real keychain of a session. */
function open(env: Readonly<Record<string, string>>, options: OpenVaultOptions = {}): OpenedVault {
  const place = openVault({ env, keychain: undefined, ...options });
  opened.push(place);
  return place;
}

/** A vault that gives the keychain all the time it takes on a machine with much to do. */
function openPatiently(
  env: Readonly<Record<string, string>>,
  options: OpenVaultOptions = {},
): OpenedVault {
  return open(env, { clock: new ManualClock(), ...options });
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((place) => place[Symbol.asyncDispose]()));
});

function keyFiles(folder: string): readonly string[] {
  const keys = path.join(folder, "keys");
  return existsSync(keys) ? readdirSync(keys) : [];
}

const note = noSecretService === undefined ? "" : ` (skipped: ${noSecretService})`;

describe.skipIf(noSecretService !== undefined)("a keychain that is unlocked", () => {
  it(`holds the key of a new vault, and no file does${note}`, async () => {
    await using session = await SecretService.start();
    await session.startKeychain("password");
    const one = openPatiently(session.env);
    await one.vault.write("a", "x");
    expect(await one.vault.status()).toEqual({
      holder: "keychain",
      file: undefined,
      state: "open",
      problem: undefined,
    });
    expect([keyFiles(one.folder), one.warnings]).toEqual([[], []]);
    const two = openPatiently(session.env, { folder: one.folder });
    expect(await two.vault.status()).toMatchObject({ holder: "keychain", state: "closed" });
    expect(await two.vault.read("a")).toBe("x");
    await two.vault.rotate();
    expect(await one.vault.read("a")).toBe("x");
  });

  it("gives the key to the next session, and to nobody else", async () => {
    await using session = await SecretService.start();
    await session.startKeychain("password");
    const one = openPatiently(session.env);
    await one.vault.write("a", "x");
    await session.stopKeychain();
    await session.startKeychain("password");
    expect(await openPatiently(session.env, { folder: one.folder }).vault.read("a")).toBe("x");
    await using elsewhere = await SecretService.start();
    await elsewhere.startKeychain("password");
    const other = openPatiently(elsewhere.env, { folder: one.folder });
    await expect(other.vault.read("a")).rejects.toMatchObject({
      code: "secret_unavailable",
      details: { problem: "key-missing" },
    });
    await expect(other.vault.write("b", "y")).rejects.toMatchObject({
      details: { problem: "key-missing" },
    });
    expect(keyFiles(one.folder)).toEqual([]);
  });

  it("takes the key over from a file, and gives it away to the environment", async () => {
    await using session = await SecretService.start();
    await session.startKeychain("password");
    const first = openVault();
    opened.push(first);
    await first.vault.write("a", "x");
    const { folder } = first;
    expect(keyFiles(folder)).toHaveLength(1);
    const env = { ...session.env, PLUGBOARD_SECRET_KEY: environmentKey };
    const second = openPatiently(env, { folder });
    await second.vault.moveTo("keychain");
    expect(keyFiles(folder)).toEqual([]);
    expect(await openPatiently(session.env, { folder }).vault.read("a")).toBe("x");
    await second.vault.moveTo("environment");
    expect(second.warnings).toEqual([]);
    const last = openPatiently({ PLUGBOARD_SECRET_KEY: environmentKey }, { folder });
    expect(await last.vault.read("a")).toBe("x");
  });

  it("two processes that make a vault at the same moment use one entry", async () => {
    await using session = await SecretService.start();
    await session.startKeychain("password");
    const options = { env: session.env, hasKeychain: true, isPatient: true };
    await using one = await VaultProcess.start(options);
    await using two = await VaultProcess.start(options);
    const folder = newFolder();
    await Promise.all([
      one.ask(folder, "write", "one", "from one"),
      two.ask(folder, "write", "two", "from two"),
    ]);
    expect(await one.ask(folder, "read", "two")).toMatchObject({ value: "from two" });
    expect(await two.ask(folder, "read", "one")).toMatchObject({ value: "from one" });
    expect(await one.ask(folder, "status")).toMatchObject({ value: { holder: "keychain" } });
  });
});

describe.skipIf(noSecretService !== undefined)("a keychain that cannot be used", () => {
  async function expectFile(place: OpenedVault): Promise<string> {
    await place.vault.write("a", "x");
    await place.vault.write("b", "y");
    expect(await place.vault.status()).toMatchObject({ holder: "file", state: "open" });
    expect(keyFiles(place.folder)).toHaveLength(1);
    expect(place.warnings).toHaveLength(1);
    const [{ fields } = { fields: undefined }] = place.warnings;
    return (fields as { reason: string }).reason;
  }

  it(`I8: is not asked again when there is none, and a file holds the key${note}`, async () => {
    await using session = await SecretService.start();
    expect(await expectFile(open(session.env))).toMatch(/\w/);
  });

  it("I8: is left alone when it is locked, and a file holds the key", async () => {
    await using session = await SecretService.start();
    await session.startKeychain("password");
    const before = openPatiently(session.env);
    await before.vault.write("a", "x");
    await session.stopKeychain();
    await session.startKeychain();
    await expectFile(open(session.env));
    const locked = open(session.env, { folder: before.folder });
    await expect(locked.vault.read("a")).rejects.toMatchObject({
      code: "secret_unavailable",
      details: { problem: "keychain" },
    });
    expect(keyFiles(before.folder)).toEqual([]);
    await session.stopKeychain();
    await session.startKeychain("password");
    expect(await locked.vault.read("a")).toBe("x");
  });

  it("I8: is given 1.5 s when it stands still, and a file holds the key", async () => {
    await using session = await SecretService.start();
    await session.startKeychain("password");
    session.pauseKeychain();
    expect(await expectFile(open(session.env))).toBe("it did not answer within 1.5 s");
    session.resumeKeychain();
  });
});

describe.skipIf(process.platform !== "linux")("a keychain that never answers", () => {
  /** A message bus that takes calls and says nothing; it tells how many callers it has had and has. */
  async function startSilentBus() {
    const callers = new Set<Socket>();
    const bus = { heard: 0, present: 0 };
    const server = createServer((caller) => {
      callers.add(caller);
      bus.heard += 1;
      bus.present += 1;
      caller.on("error", () => undefined).on("close", () => (bus.present -= 1));
      caller.resume();
    });
    const socket = path.join(mkdtempSync("/tmp/plugboard-bus-"), "bus");
    await new Promise<void>((resolve) => {
      server.listen(socket, resolve);
    });
    return {
      bus,
      env: { DBUS_SESSION_BUS_ADDRESS: `unix:path=${socket}` },
      async [Symbol.asyncDispose]() {
        for (const caller of callers) caller.destroy();
        await new Promise((resolve) => {
          server.close(resolve);
        });
      },
    };
  }

  it("I8: delays the first secret by 1.5 s and no more, said once", async () => {
    await using silent = await startSilentBus();
    const clock = new ManualClock();
    const place = open(silent.env, { clock });
    let isWritten = false;
    const writing = place.vault.write("a", "x").then(() => (isWritten = true));
    await expect.poll(() => silent.bus.present).toBe(1);
    await clock.advance(1_499);
    expect(isWritten).toBe(false);
    await clock.advance(1);
    await writing;
    expect(place.warnings).toEqual([
      {
        message: expect.stringContaining("keychain of this system cannot be used") as string,
        fields: {
          file: path.join(place.folder, "keys", keyFiles(place.folder)[0] ?? ""),
          reason: "it did not answer within 1.5 s",
        },
      },
    ]);
    await place.vault.write("b", "y");
    expect(await place.vault.read("a")).toBe("x");
    // The process that asked is gone, and no other has asked.
    await expect.poll(() => silent.bus.present).toBe(0);
    expect(silent.bus.heard).toBe(1);
  });

  it("I8: keeps no program from ending", async () => {
    await using silent = await startSilentBus();
    await using program = await VaultProcess.start({ env: silent.env, hasKeychain: true });
    const folder = newFolder();
    const answer = await program.ask(folder, "write", "a", "x");
    expect(answer.warnings).toHaveLength(1);
    program.tell(folder, "end");
    expect(await program.ended).toBe(0);
    await expect.poll(() => silent.bus.present).toBe(0);
  });

  it("leaves no process behind when its host is killed", async () => {
    await using silent = await startSilentBus();
    await using program = await VaultProcess.start({ env: silent.env, hasKeychain: true });
    program.tell(newFolder(), "write", "a", "x");
    await expect.poll(() => silent.bus.present).toBe(1);
    program.kill();
    await program.ended;
    await expect.poll(() => silent.bus.present).toBe(0);
  });
});
