import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { expect, it } from "vitest";

import { environmentKey, newFolder, openVault } from "../fixtures/secrets/open-vault.ts";
import { VaultProcess } from "../fixtures/secrets/vault-process.ts";

const env = { PLUGBOARD_SECRET_KEY: environmentKey };

function keyFiles(folder: string): readonly string[] {
  return readdirSync(path.join(folder, "keys"));
}

it("two processes that make a vault at the same moment end with one key", async () => {
  await using one = await VaultProcess.start();
  await using two = await VaultProcess.start();
  for (let round = 0; round < 20; round += 1) {
    const folder = newFolder();
    const written = await Promise.all([
      one.ask(folder, "write", "one", `from one ${round}`),
      two.ask(folder, "write", "two", `from two ${round}`),
    ]);
    expect(written).toMatchObject([{ value: null }, { value: null }]);
    for (const reader of [one, two]) {
      expect(await reader.ask(folder, "read", "one")).toMatchObject({
        value: `from one ${round}`,
      });
      expect(await reader.ask(folder, "read", "two")).toMatchObject({
        value: `from two ${round}`,
      });
    }
    expect(keyFiles(folder)).toHaveLength(1);
  }
});

it("J1: a process that is killed while it moves and rotates the key loses no secret", async () => {
  const folder = newFolder();
  {
    await using place = openVault({ folder, env });
    for (let n = 0; n < 10; n += 1) await place.vault.write(`kept ${n}`, `value ${n}`);
  }
  let counter = 0;
  for (let round = 0; round < 15; round += 1) {
    await using victim = await VaultProcess.start({ env });
    victim.tell(folder, "churn", counter + 1);
    // It is killed somewhere in what it has just begun.
    const isOver = (begun: number): boolean => begun > round;
    for (let begun = 0; !isOver(begun);) {
      const line = (await victim.next()) as { written?: number; begins?: string; error?: unknown };
      expect(line.error).toBeUndefined();
      counter = line.written ?? counter;
      if (line.begins !== undefined) begun += 1;
    }
    victim.kill();
    for (;;) {
      const line = (await victim.next()) as { written?: number } | undefined;
      if (line === undefined) break;
      counter = line.written ?? counter;
    }
    await victim.ended;
    await using place = openVault({ folder, env });
    const found = Number(await place.vault.read("counter"));
    // One more may have been saved before anybody was told.
    expect([counter, counter + 1]).toContain(found);
    for (let n = 0; n < 10; n += 1) expect(await place.vault.read(`kept ${n}`)).toBe(`value ${n}`);
    counter = found;
  }
});

it("AUT-08 STO-09 I6: no file holds a secret or the key of the environment in clear", async () => {
  const folder = newFolder();
  const canaries = Array.from({ length: 20 }, (_, n) => `canary-${n}-${"Zx9".repeat(6)}`);
  const looked = async (): Promise<number> => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    for (const entry of files) {
      const content = readFileSync(path.join(entry.parentPath, entry.name));
      for (const text of [...canaries, environmentKey])
        for (const encoding of ["utf8", "utf16le"] as const)
          for (const form of [text, Buffer.from(text).toString("base64").replace(/=+$/, "")])
            expect(content.includes(Buffer.from(form, encoding)), entry.name).toBe(false);
    }
    return files.length;
  };
  {
    await using place = openVault({ folder, env });
    await place.vault.moveTo("file");
    for (const [n, canary] of canaries.entries()) await place.vault.write(`sign-in/${n}`, canary);
    // The database, its log and the index of that, and the key.
    expect(await looked()).toBe(4);
    await place.vault.rotate();
    for (const [n, canary] of canaries.entries()) await place.vault.write(`sign-in/${n}`, canary);
    await looked();
    await place.vault.moveTo("environment");
    await place.vault.remove("sign-in/0");
    await looked();
  }
  expect(await looked()).toBeGreaterThanOrEqual(1);
  await using place = openVault({ folder, env });
  expect(await place.vault.read("sign-in/19")).toBe(canaries[19]);
});
