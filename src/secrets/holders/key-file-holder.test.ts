import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { type OpenedVault, openVault } from "../../../tests/fixtures/secrets/open-vault.ts";

const isRoot = process.geteuid?.() === 0;
const noRootNote = isRoot ? "" : " (skipped: only root can give a file away)";

describe.skipIf(process.platform === "win32")("a key file", () => {
  const opened: OpenedVault[] = [];
  let folder: string;
  let keys: string;
  let file: string;

  function open(): OpenedVault["vault"] {
    const vault = openVault({ folder });
    opened.push(vault);
    return vault.vault;
  }

  beforeEach(async () => {
    const first = openVault();
    opened.push(first);
    await first.vault.write("a", "canary value");
    ({ folder } = first);
    keys = path.join(folder, "keys");
    file = path.join(keys, readdirSync(keys)[0] ?? "");
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((vault) => vault[Symbol.asyncDispose]()));
  });

  /** Nothing is read, written, sealed anew, moved or made; the error says what to do. */
  async function expectRefusal(problem: string, hint: string): Promise<void> {
    const files = (): readonly string[] =>
      readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
    const before = files();
    const vault = open();
    for (const attempt of [
      () => vault.read("a"),
      () => vault.write("a", "x"),
      () => vault.write("b", "x"),
      () => vault.rotate(),
    ]) {
      const error: unknown = await attempt().then(
        (value) => ({ value }),
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ code: "secret_unavailable", details: { problem } });
      expect((error as { hint: string }).hint).toContain(hint);
      expect(JSON.stringify(error)).not.toContain("canary");
    }
    expect(await vault.status({ opens: true })).toMatchObject({
      holder: "file",
      file,
      state: "refused",
      problem: { details: { problem } },
    });
    expect(files()).toEqual(before);
    expect(await vault.names("")).toEqual(["a"]);
  }

  it("is 0600 in a folder of 0700, and its name says nothing", async () => {
    expect(lstatSync(file).mode & 0o777).toBe(0o600);
    expect(lstatSync(keys).mode & 0o777).toBe(0o700);
    expect(readdirSync(keys)).toEqual([expect.stringMatching(/^[\w-]{22}\.key$/)]);
    expect(await open().status()).toMatchObject({ holder: "file", file, state: "closed" });
    expect(await open().read("a")).toBe("canary value");
  });

  it("is said aloud once, with the reason why it is no keychain", async () => {
    const [first] = opened;
    await first?.vault.write("b", "x");
    expect(first?.warnings).toEqual([
      {
        message: expect.stringContaining("keychain of this system cannot be used") as string,
        fields: { file, reason: "there is none" },
      },
    ]);
    const later = openVault({ folder });
    opened.push(later);
    await later.vault.write("c", "x");
    expect(later.warnings).toEqual([]);
  });

  it.each([0o644, 0o640, 0o604, 0o660, 0o620, 0o601])(
    "I7: is refused with mode %o",
    async (mode) => {
      chmodSync(file, mode);
      await expectRefusal("key-unsafe", `chmod 600 ${file}`);
      chmodSync(file, 0o600);
      expect(await open().read("a")).toBe("canary value");
    },
  );

  it("I7: is refused behind a link", async () => {
    const target = path.join(folder, "elsewhere");
    renameSync(file, target);
    symlinkSync(target, file);
    await expectRefusal("key-unsafe", "put the file itself in its place");
  });

  it("I7: is refused in a folder that is a link", async () => {
    const target = path.join(folder, "elsewhere");
    renameSync(keys, target);
    symlinkSync(target, keys);
    await expectRefusal("key-unsafe", "folder");
  });

  it.skipIf(!isRoot)(`I7: is refused when another user owns it${noRootNote}`, async () => {
    chownSync(file, 65_534, 65_534);
    await expectRefusal("key-unsafe", "run as its owner");
  });

  it.skipIf(!isRoot)(`I7: is refused when another user owns its folder${noRootNote}`, async () => {
    chownSync(keys, 65_534, 65_534);
    await expectRefusal("key-unsafe", "run as its owner");
  });

  it.each([0o770, 0o707, 0o777])(
    "I7: is refused when others may write its folder (%o)",
    async (mode) => {
      chmodSync(keys, mode);
      await expectRefusal("key-unsafe", `chmod 700 ${keys}`);
    },
  );

  it("I7: is refused when others may write the folder of the user", async () => {
    chmodSync(folder, 0o777);
    await expectRefusal("key-unsafe", `chmod o-w ${folder}`);
  });

  it("I7: is never made anew while there are secrets of the one that is missing", async () => {
    const content = readFileSync(file);
    rmSync(file);
    await expectRefusal("key-missing", `restore ${file} from a backup`);
    rmSync(keys, { recursive: true });
    await expectRefusal("key-missing", "from a backup");
    expect(existsSync(keys)).toBe(false);
    mkdirSync(keys, { mode: 0o700 });
    writeFileSync(file, content, { mode: 0o600 });
    expect(await open().read("a")).toBe("canary value");
  });

  it("I7: is refused when it holds another key, half a key, or something else", async () => {
    writeFileSync(file, `${Buffer.alloc(32).toString("base64url")}\n`);
    await expectRefusal("key-wrong", "the key that the vault was made with");
    for (const content of ["", "x", Buffer.alloc(16).toString("base64url"), "A".repeat(5_000)]) {
      writeFileSync(file, content);
      await expectRefusal("key-unsafe", "backup");
    }
    rmSync(file);
    mkdirSync(file, { mode: 0o700 });
    await expectRefusal("key-unsafe", "the file itself");
  });

  it("moves to the environment and is removed; a file that is left is another one", async () => {
    const env = { PLUGBOARD_SECRET_KEY: "ab".repeat(32) };
    const vault = openVault({ folder, env });
    opened.push(vault);
    await vault.vault.moveTo("environment");
    expect(readdirSync(keys)).toEqual([]);
    expect(await vault.vault.read("a")).toBe("canary value");
    await vault.vault.moveTo("file");
    const [again = ""] = readdirSync(keys);
    expect(again).not.toBe(path.basename(file));
    await vault.vault.moveTo("file");
    expect(readdirSync(keys)).toHaveLength(1);
    expect(readdirSync(keys)).not.toEqual([again]);
    expect(await open().read("a")).toBe("canary value");
  });

  it("stays when the vault cannot be moved, and nothing new is left", async () => {
    await expect(open().moveTo("environment")).rejects.toMatchObject({
      code: "secret_unavailable",
      hint: expect.stringContaining("PLUGBOARD_SECRET_KEY") as string,
    });
    await expect(open().moveTo("keychain")).rejects.toMatchObject({
      code: "secret_unavailable",
      retryable: true,
    });
    expect(readdirSync(keys)).toEqual([path.basename(file)]);
    expect(await open().read("a")).toBe("canary value");
  });
});

it.skipIf(process.platform !== "linux")(
  "a key file that cannot be made names the variables that can be set instead",
  async () => {
    const place = openVault();
    const other = openVault({ folder: "/proc/none/.plugboard", location: place.location ?? null });
    await expect(other.vault.write("a", "x")).rejects.toMatchObject({
      code: "secret_unavailable",
      hint: expect.stringMatching(/PLUGBOARD_SECRET_KEY or PLUGBOARD_PASSPHRASE/) as string,
    });
    await other[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  },
);
