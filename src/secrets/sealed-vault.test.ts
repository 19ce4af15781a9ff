import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { inspect } from "node:util";

import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import {
  environmentKey,
  newFolder,
  type OpenedVault,
  openVault,
  type OpenVaultOptions,
} from "../../tests/fixtures/secrets/open-vault.ts";
import {
  findPostgres,
  startPostgres,
  type TestPostgres,
} from "../../tests/fixtures/store/postgres-server.ts";
import type { SecretRows } from "../store/rows/secret-rows.ts";
import { keyRowId } from "./seal/reserved-names.ts";

const source = findPostgres();
const isMissing = source.kind === "none";
const note = source.kind === "none" ? ` (skipped: ${source.reason})` : "";

let postgres: TestPostgres | undefined;

beforeAll(async () => {
  if (!isMissing) postgres = await startPostgres(source);
});

afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]();
});

const withKey = { PLUGBOARD_SECRET_KEY: environmentKey };
const withPassphrase = { PLUGBOARD_PASSPHRASE: "correct horse battery staple" };

const places: readonly {
  readonly place: string;
  readonly env: Readonly<Record<string, string>>;
  readonly create: () => Promise<Pick<OpenVaultOptions, "location" | "folder">>;
}[] = [
  { place: "in a file", env: {}, create: async () => ({ folder: newFolder() }) },
  {
    place: "in Postgres",
    env: withKey,
    create: async () => ({ location: (await postgres?.createDatabase()) ?? "" }),
  },
];

const opened: OpenedVault[] = [];

function open(options: OpenVaultOptions = {}): OpenedVault {
  const vault = openVault(options);
  opened.push(vault);
  return vault;
}

/** Does something to the rows behind the vault's back. */
async function onRows({ store }: OpenedVault, task: (rows: SecretRows) => Promise<unknown>) {
  await store.write(({ secrets }) => task(secrets));
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((vault) => vault[Symbol.asyncDispose]()));
});

describe.each(places)("a vault $place", ({ place, env, create }) => {
  const test = it.skipIf(place === "in Postgres" && isMissing);

  async function openTwo(): Promise<readonly [OpenedVault, OpenedVault]> {
    const where = await create();
    const one = open({ ...where, env });
    return [one, open({ folder: one.folder, location: one.location ?? null, env })];
  }

  test(`secrets come back as they were, replaced, removed and listed by name${note}`, async () => {
    const [{ vault }, other] = await openTwo();
    expect(await vault.read("sign-in/b")).toBeUndefined();
    expect(await vault.remove("sign-in/b")).toBe(false);
    expect(await vault.names("")).toEqual([]);
    await vault.write("sign-in/b", "old");
    await vault.write("sign-in/b", "new");
    await vault.write("sign-in/a", "");
    await vault.write("tokens/x", "\uD800 half, and \0");
    for (const { read, names } of [vault, other.vault].map((it) => ({
      read: (name: string) => it.read(name),
      names: (prefix: string) => it.names(prefix),
    }))) {
      expect(await read("sign-in/b")).toBe("new");
      expect(await read("sign-in/a")).toBe("");
      expect(await read("tokens/x")).toBe("\uD800 half, and \0");
      expect(await read("sign-in/c")).toBeUndefined();
      expect(await names("sign-in/")).toEqual(["sign-in/a", "sign-in/b"]);
      expect(await names("")).toEqual(["sign-in/a", "sign-in/b", "tokens/x"]);
    }
    expect(await other.vault.remove("sign-in/b")).toBe(true);
    expect(await vault.read("sign-in/b")).toBeUndefined();
  });

  test("any name and value survive, and no row shows the value", async () => {
    const one = open({ ...(await create()), env });
    const unit = fc.nat({ max: 0xff_ff }).map((code) => String.fromCharCode(code));
    const texts = fc.string({ unit, minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(texts, texts, async (name, value) => {
        fc.pre(!name.startsWith("vault/"));
        await one.vault.write(name, value);
        expect(await one.vault.read(name)).toBe(value);
        await onRows(one, async (rows) => {
          const row = (await rows.get(name)) ?? "";
          expect(row).toMatch(/^v1\|/);
          if (value.length > 8) expect(row).not.toContain(value);
        });
      }),
      { numRuns: 30 },
    );
  });

  test("keeps no secret under a name of its own, and shows none of its rows", async () => {
    const { vault } = open({ ...(await create()), env });
    await vault.write("a", "x");
    for (const name of [keyRowId, "vault/other", ""])
      await expect(vault.write(name, "x")).rejects.toMatchObject({ code: "invalid_arguments" });
    expect(await vault.read(keyRowId)).toBeUndefined();
    expect(await vault.remove(keyRowId)).toBe(false);
    expect(await vault.names("vault")).toEqual([]);
    expect(await vault.read("a")).toBe("x");
  });

  test("I7: refuses rows that were swapped, copied to another name, or are of no known version", async () => {
    const one = open({ ...(await create()), env });
    await one.vault.write("a", "value of a");
    await one.vault.write("b", "value of b");
    await onRows(one, async (rows) => {
      const [a = "", b = ""] = [await rows.get("a"), await rows.get("b")];
      await rows.put("a", b);
      await rows.put("b", a);
      await rows.put("c", a);
    });
    for (const name of ["a", "b", "c"])
      await expect(one.vault.read(name)).rejects.toMatchObject({
        code: "secret_unavailable",
        details: { problem: "damaged", secret: name },
        message: expect.not.stringContaining("value of") as string,
      });
    await onRows(one, (rows) => rows.put("a", "v9|what|ever"));
    await expect(one.vault.read("a")).rejects.toMatchObject({ details: { problem: "version" } });
    await expect(one.vault.rotate()).rejects.toMatchObject({ code: "secret_unavailable" });
  });

  test("I7: refuses a changed key row, and never makes a new key beside sealed rows", async () => {
    const [one, two] = await openTwo();
    await one.vault.write("a", "x");
    let before = "";
    await onRows(one, async (rows) => {
      before = (await rows.get(keyRowId)) ?? "";
      const changed = before.at(-1) === "A" ? "Q" : "A";
      await rows.put(keyRowId, before.slice(0, -1) + changed);
    });
    await expect(two.vault.read("a")).rejects.toMatchObject({ details: { problem: "damaged" } });
    await expect(two.vault.write("b", "x")).rejects.toMatchObject({ code: "secret_unavailable" });
    await onRows(one, (rows) => rows.remove(keyRowId));
    for (const attempt of [
      () => two.vault.read("a"),
      () => two.vault.write("b", "x"),
      () => two.vault.rotate(),
      () => two.vault.moveTo("environment"),
    ])
      await expect(attempt()).rejects.toMatchObject({
        code: "secret_unavailable",
        details: { problem: expect.stringMatching(/^key-missing$/) as string },
      });
    expect(await two.vault.status({ opens: true })).toMatchObject({ state: "refused" });
    expect(await two.vault.names("")).toEqual(["a"]);
    await onRows(one, (rows) => rows.put(keyRowId, before));
    expect(await two.vault.read("a")).toBe("x");
  });

  test("seals everything under a new key, and others read and write on", async () => {
    const [one, two] = await openTwo();
    await Promise.all(["a", "b", "c"].map((name) => one.vault.write(name, `value of ${name}`)));
    expect(await two.vault.read("a")).toBe("value of a");
    const rowsBefore = await one.store.write(({ secrets }) => secrets.snapshot());
    await one.vault.rotate();
    const rowsAfter = await one.store.write(({ secrets }) => secrets.snapshot());
    const keyIds = (rows = rowsAfter) =>
      new Set(rows?.rows.map(({ envelope }) => envelope.split("|")[1]));
    expect(keyIds(rowsBefore).size).toBe(1);
    expect(keyIds().size).toBe(1);
    expect(keyIds()).not.toEqual(keyIds(rowsBefore));
    // The second has the old key in mind.
    await two.vault.write("d", "value of d");
    await one.vault.write("e", "value of e");
    for (const { vault } of [one, two])
      for (const name of ["a", "b", "c", "d", "e"])
        expect(await vault.read(name)).toBe(`value of ${name}`);
  });

  test("loses nothing when one host rotates while others write", async () => {
    const [one, two] = await openTwo();
    await one.vault.write("warm", "up");
    const writers = [one, two].map(async ({ vault }, writer) => {
      for (let n = 0; n < 25; n += 1) await vault.write(`w${writer}.${n}`, `${writer} ${n}`);
    });
    const rotations = (async () => {
      for (let n = 0; n < 6; n += 1)
        await two.vault.rotate().catch((error: unknown) => {
          expect(error).toMatchObject({ code: "secret_unavailable", retryable: true });
        });
    })();
    await Promise.all([...writers, rotations]);
    await one.vault.rotate();
    for (const { vault } of [one, two])
      for (const writer of [0, 1])
        for (let n = 0; n < 25; n += 1)
          expect(await vault.read(`w${writer}.${n}`)).toBe(`${writer} ${n}`);
  });

  test("many who write the first secret at once share one key", async () => {
    const where = await create();
    const first = open({ ...where, env });
    const all = [
      first,
      ...Array.from({ length: 4 }, () =>
        open({ folder: first.folder, location: first.location ?? null, env }),
      ),
    ];
    await Promise.all(
      all.flatMap(({ vault }, index) =>
        [1, 2].map((n) => vault.write(`s${index}.${n}`, `${index}`)),
      ),
    );
    for (const { vault } of all)
      for (const index of all.keys()) expect(await vault.read(`s${index}.2`)).toBe(`${index}`);
    const keys = path.join(first.folder, "keys");
    expect(existsSync(keys) ? readdirSync(keys) : []).toHaveLength(place === "in a file" ? 1 : 0);
  });

  test("moves to a passphrase and back to a key of the environment", async () => {
    const both = { ...env, ...withKey, ...withPassphrase };
    const where = await create();
    const one = open({ ...where, env: both });
    const location = one.location ?? null;
    await one.vault.write("a", "x");
    await one.vault.moveTo("passphrase");
    expect(await one.vault.status()).toMatchObject({ holder: "passphrase", state: "open" });
    const later = open({ folder: one.folder, location, env: withPassphrase });
    expect(await later.vault.status()).toMatchObject({ holder: "passphrase", state: "closed" });
    expect(await later.vault.read("a")).toBe("x");
    const wrong = open({
      folder: one.folder,
      location,
      env: { PLUGBOARD_PASSPHRASE: "Correct horse battery staple" },
    });
    await expect(wrong.vault.read("a")).rejects.toMatchObject({
      details: { problem: "key-wrong" },
    });
    await expect(wrong.vault.moveTo("environment")).rejects.toMatchObject({
      details: { problem: "key-missing" },
    });
    const without = open({ folder: one.folder, location });
    await expect(without.vault.read("a")).rejects.toMatchObject({
      details: { problem: "key-missing" },
      hint: expect.stringContaining("PLUGBOARD_PASSPHRASE") as string,
    });
    await later.vault.write("b", "y");
    await one.vault.moveTo("environment");
    const last = open({ folder: one.folder, location, env: withKey });
    expect([await last.vault.read("a"), await last.vault.read("b")]).toEqual(["x", "y"]);
    // It had the key before, and needs no holder for it.
    await later.vault.write("c", "z");
    expect(await last.vault.read("c")).toBe("z");
  });
});

describe("a vault whose key comes from the environment", () => {
  const bytes = Buffer.alloc(32, 7);

  it.each([
    ["base64", bytes.toString("base64")],
    ["base64 without padding", bytes.toString("base64").replace("=", "")],
    ["base64url", bytes.toString("base64url")],
    ["digits", bytes.toString("hex").toUpperCase()],
    ["a line", `${bytes.toString("hex")}\n`],
  ])("takes it as %s", async (_, text) => {
    const { vault, folder } = open({ env: withKey });
    await vault.write("a", "x");
    const other = open({ folder, env: { PLUGBOARD_SECRET_KEY: text } });
    expect(await other.vault.read("a")).toBe("x");
    expect(existsSync(path.join(folder, "keys"))).toBe(false);
  });

  it.each([
    ["too short", "c2hvcnQ="],
    ["too long", bytes.toString("hex") + "00"],
    ["no encoding", "correct horse battery staple, and more"],
    ["of a wrong length", bytes.toString("base64").replace("=", "==")],
  ])("refuses one that is %s, without showing it or using another holder", async (_, text) => {
    const { vault, folder } = open({
      env: { PLUGBOARD_SECRET_KEY: text, ...withPassphrase },
    });
    const error: unknown = await vault.write("a", "x").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "secret_unavailable",
      details: { problem: "key-unsafe" },
      hint: expect.stringContaining("openssl rand") as string,
    });
    expect(inspect(error) + JSON.stringify(error)).not.toContain(text);
    expect(existsSync(path.join(folder, "keys"))).toBe(false);
    expect(await vault.names("")).toEqual([]);
  });

  it("I7: refuses another key, and shows neither", async () => {
    const { vault, folder } = open({ env: withKey });
    await vault.write("a", "canary value");
    const other = Buffer.alloc(32, 8).toString("base64");
    const wrong = open({ folder, env: { PLUGBOARD_SECRET_KEY: other } });
    for (const attempt of [
      () => wrong.vault.read("a"),
      () => wrong.vault.write("a", "y"),
      () => wrong.vault.rotate(),
      () => wrong.vault.moveTo("file"),
    ]) {
      const error: unknown = await attempt().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        code: "secret_unavailable",
        details: { problem: "key-wrong", holder: "environment" },
      });
      const shown = inspect(error, { depth: 9 }) + JSON.stringify(error);
      for (const hidden of [other, environmentKey, "canary value"])
        expect(shown).not.toContain(hidden);
    }
    expect(readdirSync(path.join(folder, "keys"))).toEqual([]);
    expect(await vault.read("a")).toBe("canary value");
  });

  it("goes before a passphrase, and the holder that a vault has goes before both", async () => {
    const one = open({ env: { ...withKey, ...withPassphrase } });
    await one.vault.write("a", "x");
    expect(await one.vault.status()).toMatchObject({ holder: "environment" });
    const other = open();
    await other.vault.write("a", "x");
    const later = open({ folder: other.folder, env: withKey });
    expect(await later.vault.read("a")).toBe("x");
    expect(await later.vault.status()).toMatchObject({ holder: "file" });
  });
});

describe("a vault in a shared database", () => {
  const test = it.skipIf(isMissing);

  test(`needs a key that every machine is given${note}`, async () => {
    const location = (await postgres?.createDatabase()) ?? "";
    const { vault, folder } = open({ location });
    const needsKey = {
      code: "secret_unavailable",
      details: { problem: "key-missing" },
      hint: expect.stringMatching(/PLUGBOARD_SECRET_KEY.*PLUGBOARD_PASSPHRASE/) as string,
    };
    await expect(vault.write("a", "x")).rejects.toMatchObject(needsKey);
    expect(await vault.status()).toMatchObject({ state: "refused", problem: needsKey });
    for (const holder of ["file", "keychain"] as const) {
      await expect(vault.moveTo(holder)).rejects.toMatchObject(needsKey);
      const withKeys = open({ location, env: withKey });
      await withKeys.vault.write("b", "y");
      await expect(withKeys.vault.moveTo(holder)).rejects.toMatchObject(needsKey);
      expect(await withKeys.vault.read("b")).toBe("y");
    }
    expect(existsSync(path.join(folder, "keys"))).toBe(false);
  });
});

describe("a vault that nobody uses", () => {
  it("reads no store, makes no file and asks no keychain", async () => {
    const asked: string[] = [];
    const ask = async (): Promise<never> => {
      asked.push("keychain");
      throw new Error("not expected");
    };
    const { vault, store, folder } = open({
      keychain: { keep: ask, find: ask, remove: ask },
    });
    expect(await vault.read("a")).toBeUndefined();
    expect(await vault.remove("a")).toBe(false);
    expect(await vault.names("")).toEqual([]);
    expect(await vault.status({ opens: true })).toEqual({
      holder: undefined,
      file: undefined,
      state: "empty",
      problem: undefined,
    });
    await vault.rotate();
    expect([asked, store.isOpen, existsSync(folder)]).toEqual([[], false, false]);
  });
});

describe.each([
  ["keeps nothing", null],
  ["keeps its store in memory", ":memory:"],
])("a vault of a host that %s", (_, location) => {
  it("keeps secrets in memory, without a key", async () => {
    const { vault, folder } = open({ location });
    await vault.write("b", "y");
    await vault.write("a", "x");
    expect(await vault.read("a")).toBe("x");
    expect(await vault.names("")).toEqual(["a", "b"]);
    expect(await vault.remove("a")).toBe(true);
    expect(await vault.remove("a")).toBe(false);
    expect(await vault.read("a")).toBeUndefined();
    expect(await vault.status()).toMatchObject({ holder: "memory", state: "open" });
    await expect(vault.moveTo("file")).rejects.toMatchObject({ code: "secret_unavailable" });
    await vault.rotate();
    expect(existsSync(folder)).toBe(false);
  });
});
