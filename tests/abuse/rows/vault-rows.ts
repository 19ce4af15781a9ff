import { chmodSync, mkdtempSync, readdirSync, renameSync, symlinkSync, unlinkSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import path from "node:path";
import { inspect } from "node:util";

import { McpError } from "../../../src/errors/mcp-error.ts";
import { environmentKey, type OpenedVault, openVault } from "../../fixtures/secrets/open-vault.ts";
import type { Lab } from "../lab.ts";
import { type Figures, type Row, zero } from "../row.ts";

const plaintext = "canary of the vault";

/** Reads with a vault that has opened nothing yet; counts what came of it. */
class Readings {
  readonly figures = {
    "plaintext returned": 0,
    "untyped refusals": 0,
    "refused for nothing": 0,
    refused: 0,
  };

  async read(options: Parameters<typeof openVault>[0], name = "a"): Promise<void> {
    await using place = openVault(options);
    const end: unknown = await place.vault.read(name).catch((error: unknown) => error);
    // Also one that has it in its message is no refusal.
    if (inspect(end, { depth: 9 }).includes(plaintext)) this.figures["plaintext returned"] += 1;
    else if (McpError.is(end, "secret_unavailable")) this.figures.refused += 1;
    else this.figures["untyped refusals"] += 1;
  }

  /** Reads what nobody spoiled: a vault that refuses everything proves nothing. */
  async readWhole(options: Parameters<typeof openVault>[0]): Promise<void> {
    await using place = openVault(options);
    const end: unknown = await place.vault.read("a").catch((error: unknown) => error);
    if (end !== plaintext) this.figures["refused for nothing"] += 1;
  }
}

async function writeTo(options: Parameters<typeof openVault>[0]): Promise<OpenedVault> {
  const place = openVault(options);
  await place.vault.write("a", plaintext);
  await place.vault.write("b", `${plaintext} again`);
  return place;
}

/** Changes rows behind the back of the vault, and puts them back afterwards. */
async function withRow(
  { store }: OpenedVault,
  name: string,
  change: (row: string) => string,
  task: () => Promise<void>,
): Promise<void> {
  let before = "";
  await store.write(async ({ secrets }) => {
    before = (await secrets.get(name)) ?? "";
    await secrets.put(name, change(before));
  });
  await task();
  await store.write(({ secrets }) => secrets.put(name, before));
}

function flip(row: string, at: number): string {
  const bytes = Buffer.from(row);
  bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ (1 << (at % 7));
  return bytes.toString("latin1");
}

async function spoilVault(lab: Lab): Promise<Figures> {
  const readings = new Readings();
  await using place = await writeTo({});
  const { folder } = place;
  for (let at = 0; at < lab.count; at += 1)
    for (const name of ["a", "vault/key"])
      await withRow(
        place,
        name,
        (row) => flip(row, at),
        () => readings.read({ folder }),
      );
  let other = "";
  await place.store.read(async ({ secrets }) => {
    other = (await secrets.get("b")) ?? "";
  }, undefined);
  await withRow(
    place,
    "a",
    () => other,
    () => readings.read({ folder }),
  );

  await readings.readWhole({ folder });
  const keys = path.join(folder, "keys");
  const file = path.join(keys, readdirSync(keys)[0] ?? "");
  chmodSync(file, 0o644);
  await readings.read({ folder });
  chmodSync(file, 0o600);
  renameSync(file, path.join(folder, "elsewhere"));
  await readings.read({ folder });
  symlinkSync(path.join(folder, "elsewhere"), file);
  await readings.read({ folder });
  unlinkSync(file);
  renameSync(path.join(folder, "elsewhere"), file);
  await readings.readWhole({ folder });

  const withKey = { PLUGBOARD_SECRET_KEY: environmentKey };
  await using keyed = await writeTo({ env: withKey });
  const wrong = { PLUGBOARD_SECRET_KEY: Buffer.alloc(32, 8).toString("base64") };
  await readings.read({ folder: keyed.folder, env: wrong });
  await readings.read({ folder: keyed.folder, env: {} });
  await readings.readWhole({ folder: keyed.folder, env: withKey });
  return readings.figures;
}

/** A message bus that takes calls and never answers. */
async function startSilentBus(): Promise<{ readonly socket: string } & AsyncDisposable> {
  const callers = new Set<Socket>();
  const server = createServer((caller) => {
    callers.add(caller.on("error", () => undefined).resume());
  });
  // Not in TMPDIR: the path of a socket must be short.
  const socket = path.join(mkdtempSync("/tmp/plugboard-bus-"), "bus");
  await new Promise<void>((resolve) => {
    server.listen(socket, resolve);
  });
  return {
    socket,
    async [Symbol.asyncDispose]() {
      for (const caller of callers) caller.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

async function withoutKeychain(lab: Lab): Promise<Figures> {
  const figures = {
    "max start delay s": 0,
    "not said aloud": 0,
    "not in a file": 0,
    "secrets lost": 0,
  };
  if (process.platform !== "linux") return { ...figures, "not tried": 1 };
  await using silent = await startSilentBus();
  for (let round = 0; round < lab.count; round += 1)
    for (const socket of [silent.socket, `${silent.socket}-absent`]) {
      const env = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${socket}` };
      await using place = openVault({ env, keychain: undefined });
      const startedAt = performance.now();
      await place.vault.write("a", plaintext);
      const delayS = (performance.now() - startedAt) / 1_000;
      figures["max start delay s"] = Math.max(figures["max start delay s"], delayS);
      if (place.warnings.length !== 1) figures["not said aloud"] += 1;
      if ((await place.vault.status()).holder !== "file") figures["not in a file"] += 1;
      if ((await place.vault.read("a")) !== plaintext) figures["secrets lost"] += 1;
    }
  return figures;
}

export const vaultRows: readonly Row[] = [
  {
    id: "I7",
    trigger: "rows with a wrong bit, swapped rows, another key, a key that others may read, a link",
    expected: "a typed refusal, nothing of the secret",
    measured:
      "so many positions of a secret's row and of the key's row; then one row in the place of another, and keys that are readable, missing, linked, wrong and not given",
    criteria: zero("plaintext returned", "untyped refusals", "refused for nothing"),
    servers: {},
    counts: { short: 10, normal: 200, long: 1_000 },
    attack: spoilVault,
  },
  {
    id: "I8",
    trigger: "a keychain that is absent, or never answers",
    expected: "a file holds the key, said aloud; the keychain is waited for no longer than 2 s",
    measured:
      "the time until the first secret of a new vault is kept; a keychain that is locked is tried in tests/secrets",
    criteria: [
      ...zero("not said aloud", "not in a file", "secrets lost"),
      { figure: "max start delay s", atMost: 2, isPhysical: true },
    ],
    servers: {},
    counts: { short: 1, normal: 3, long: 10 },
    attack: withoutKeychain,
  },
];
