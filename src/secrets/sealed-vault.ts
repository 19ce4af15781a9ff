import { TimeSlice } from "../async/time-slice.ts";
import { McpError } from "../errors/mcp-error.ts";
import type { HostStore } from "../store/host-store.ts";
import type { SecretRow, SecretRows } from "../store/rows/secret-rows.ts";
import type { NewHeldKey } from "./holders/key-holder.ts";
import type { KeyHolders } from "./holders/key-holders.ts";
import { takeKey } from "./seal/envelope.ts";
import {
  type HolderKind,
  type KeyRow,
  newDataKey,
  parseKeyRow,
  unwrapDataKey,
  wrapDataKey,
} from "./seal/key-row.ts";
import { keyRowId, reservedPrefix } from "./seal/reserved-names.ts";
import { damaged, type DataKey, openSecret, readKeyId, sealSecret } from "./seal/sealed-secret.ts";
import { secretError } from "./seal/secret-error.ts";
import type { StatusOptions, Vault, VaultStatus } from "./vault.ts";

/** Other processes may change the key meanwhile; each of these changes is rare, and so many of them are not. */
const maxTries = 5;

/** A data key that is open, and the key row that it was found in. */
interface OpenKey extends DataKey {
  readonly row: string;
}

/**
 * Keeps secrets as rows of a store, sealed under a data key. That key is a row itself, sealed under the key of a holder,
 * which is asked when the first secret is needed. Whatever several processes do at once, all rows are sealed under the
 * key that the key row has: changes name the key row that they rely on.
 */
export class SealedVault implements Vault {
  readonly #store: HostStore;
  readonly #holders: KeyHolders;
  #open: OpenKey | undefined;
  #opening: Promise<OpenKey | undefined> | undefined;
  #creating: Promise<OpenKey> | undefined;

  constructor(store: HostStore, holders: KeyHolders) {
    this.#store = store;
    this.#holders = holders;
  }

  async read(name: string): Promise<string | undefined> {
    return await this.#store.read(
      async ({ secrets }) => await this.#read(secrets, name),
      undefined,
    );
  }

  async write(name: string, value: string): Promise<void> {
    await this.#store.write(async ({ secrets }) => {
      for (let tries = 0; tries < maxTries; tries += 1) {
        const key = this.#open ?? (await this.#openKey(secrets)) ?? (await this.#create(secrets));
        const row = { id: name, envelope: sealSecret(key, name, value) };
        if (await secrets.putUnder(keyRow(key.row), row)) return;
        await this.#openKey(secrets);
      }
      throw changesTooOften();
    });
  }

  async remove(name: string): Promise<boolean> {
    return await this.#store.read(async ({ secrets }) => await secrets.remove(name), false);
  }

  async names(prefix: string): Promise<readonly string[]> {
    const ids = await this.#store.read<readonly string[]>(({ secrets }) => secrets.ids(), []);
    return ids.filter((id) => !id.startsWith(reservedPrefix) && id.startsWith(prefix)).toSorted();
  }

  async status({ opens = false }: StatusOptions = {}): Promise<VaultStatus> {
    let row: KeyRow | undefined;
    try {
      const found = await this.#store.read(({ secrets }) => this.#findKeyRow(secrets), undefined);
      if (found === undefined) return this.#statusOf(this.#holders.expected(), "empty");
      row = parseKeyRow(found);
      // Throws for a holder that cannot be used with this store.
      this.#holders.of(row.kind);
      if (opens) await this.#store.read(({ secrets }) => this.#openKey(secrets), undefined);
      return this.#statusOf(row, this.#open?.id === row.dataKeyId ? "open" : "closed");
    } catch (error) {
      if (!McpError.is(error)) throw error;
      return this.#statusOf(row, "refused", error);
    }
  }

  async moveTo(holder: HolderKind): Promise<void> {
    await this.#store.write(async ({ secrets }) => {
      const held = await this.#holders.of(holder).create();
      let before: KeyRow | undefined;
      try {
        const isNew = (await this.#findKeyRow(secrets)) === undefined;
        if (isNew && (await this.#add(secrets, held)) !== undefined) return;
        before = await this.#rewrap(secrets, held);
      } catch (error) {
        // After any other failure the row may name the new holder: then its key must stay.
        if (McpError.is(error, "secret_unavailable")) await this.#holders.discard(held);
        throw error;
      }
      await this.#holders.discard(before);
    });
  }

  async rotate(): Promise<void> {
    await this.#store.read(async ({ secrets }) => {
      for (let tries = 0; tries < maxTries; tries += 1) {
        const { revision, rows } = await secrets.snapshot();
        const row = rows.find(({ id }) => id === keyRowId)?.envelope;
        if (row === undefined && rows.length > 0) throw keyRowMissing();
        if (row === undefined || (await this.#reseal(secrets, row, rows, revision))) return;
      }
      throw changesTooOften();
    }, undefined);
  }

  async #read(secrets: SecretRows, name: string): Promise<string | undefined> {
    for (let tries = 0; tries < maxTries; tries += 1) {
      const envelope = await secrets.get(name);
      if (envelope === undefined) return undefined;
      const keyId = readKeyId(envelope, name);
      // Another process may have sealed everything under a new key, before or after this row was read.
      const key = this.#open?.id === keyId ? this.#open : await this.#openKey(secrets);
      if (key === undefined) throw keyRowMissing();
      if (key.id === keyId) return openSecret(key, name, envelope);
      if ((await secrets.get(name)) === envelope) throw damaged(name);
    }
    throw changesTooOften();
  }

  /** Opens the key that the key row has now, once for all who ask at a time; undefined when there is no vault yet. */
  #openKey(secrets: SecretRows): Promise<OpenKey | undefined> {
    this.#opening ??= this.#openNow(secrets).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #openNow(secrets: SecretRows): Promise<OpenKey | undefined> {
    const found = await this.#findKeyRow(secrets);
    if (found === undefined) return (this.#open = undefined);
    this.#open = await this.#whileUnchanged(secrets, found, async (text) => {
      const row = parseKeyRow(text);
      // Only its holder has changed, and nobody needs to be asked again.
      if (this.#open?.id === row.dataKeyId) return { ...this.#open, row: text };
      return { id: row.dataKeyId, key: takeKey(await this.#unwrap(row)), row: text };
    });
    return this.#open;
  }

  /**
   * Works with the key row. When that fails, and another process has changed the row meanwhile, it is tried with the new
   * one: the old holder may have no key any more.
   */
  async #whileUnchanged<T>(
    secrets: SecretRows,
    first: string,
    work: (row: string) => Promise<T>,
  ): Promise<T> {
    let row = first;
    for (let tries = 1; ; tries += 1) {
      try {
        return await work(row);
      } catch (error) {
        const now = await this.#findKeyRow(secrets);
        if (now === undefined || now === row || tries === maxTries) throw error;
        row = now;
      }
    }
  }

  /** The key row; undefined for a store without secrets. Secrets without it are never taken for an empty vault. */
  async #findKeyRow(secrets: SecretRows): Promise<string | undefined> {
    const row = await secrets.get(keyRowId);
    if (row === undefined && (await secrets.ids()).length > 0) {
      // Another process may have made the vault between the two looks.
      const late = await secrets.get(keyRowId);
      if (late === undefined) throw keyRowMissing();
      return late;
    }
    return row;
  }

  /** The bytes of the data key, which the caller wipes or takes over. */
  async #unwrap(row: KeyRow): Promise<Buffer> {
    const holderKey = await this.#holders.of(row.kind).open(row.place);
    const bytes = unwrapDataKey(row, holderKey);
    if (bytes === undefined) throw wrongKey(row);
    return bytes;
  }

  /** Makes the vault, once for all who ask at a time, or uses the one that another process made at the same moment. */
  #create(secrets: SecretRows): Promise<OpenKey> {
    this.#creating ??= this.#createNow(secrets).finally(() => {
      this.#creating = undefined;
    });
    return this.#creating;
  }

  async #createNow(secrets: SecretRows): Promise<OpenKey> {
    const held = await this.#holders.create();
    const own = await this.#add(secrets, held);
    if (own !== undefined) return own;
    await this.#holders.discard(held);
    const other = await this.#openKey(secrets);
    if (other === undefined) throw changesTooOften();
    return other;
  }

  /** Adds a key row with a new data key; undefined when there is a row already. */
  async #add(secrets: SecretRows, held: NewHeldKey): Promise<OpenKey | undefined> {
    const made = newDataKey();
    const row = wrapDataKey(made, held, held.key);
    const open = { id: made.id, key: takeKey(made.bytes), row };
    if (!(await secrets.addFirst(keyRow(row)))) return undefined;
    this.#open = open;
    return open;
  }

  /** Seals the data key under the key of another holder; gives what the row was before. */
  async #rewrap(secrets: SecretRows, held: NewHeldKey): Promise<KeyRow> {
    for (let tries = 0; tries < maxTries; tries += 1) {
      const found = await this.#findKeyRow(secrets);
      if (found === undefined) throw keyRowMissing();
      const { row, bytes } = await this.#whileUnchanged(secrets, found, async (text) => {
        const parsed = parseKeyRow(text);
        return { row: { ...parsed, text }, bytes: await this.#unwrap(parsed) };
      });
      try {
        const by = wrapDataKey({ id: row.dataKeyId, bytes }, held, held.key);
        if (await secrets.replace(keyRow(row.text), by)) return row;
      } finally {
        bytes.fill(0);
      }
    }
    throw changesTooOften();
  }

  /** Seals all rows of a snapshot under a new data key; false when somebody has written since. */
  async #reseal(
    secrets: SecretRows,
    keyText: string,
    rows: readonly SecretRow[],
    revision: number,
  ): Promise<boolean> {
    const old = parseKeyRow(keyText);
    const holderKey = await this.#holders.of(old.kind).open(old.place);
    const bytes = unwrapDataKey(old, holderKey);
    if (bytes === undefined) throw wrongKey(old);
    const oldKey = { id: old.dataKeyId, key: takeKey(bytes) };
    const made = newDataKey();
    const by = wrapDataKey(made, old, holderKey);
    const newKey = { id: made.id, key: takeKey(made.bytes) };
    const resealed: SecretRow[] = [];
    const slice = new TimeSlice();
    for (const { id, envelope } of rows) {
      if (id === keyRowId) continue;
      if (slice.isOver) await slice.next();
      resealed.push({ id, envelope: sealSecret(newKey, id, openSecret(oldKey, id, envelope)) });
    }
    const isDone = await secrets.replaceAll(revision, { ...keyRow(keyText), by }, resealed);
    if (isDone) this.#open = { ...newKey, row: by };
    return isDone;
  }

  #statusOf(
    held: KeyRow | HolderKind | undefined,
    state: VaultStatus["state"],
    problem?: McpError,
  ): VaultStatus {
    const isRow = typeof held === "object";
    return {
      holder: isRow ? held.kind : held,
      file: isRow ? this.#holders.fileOf(held) : undefined,
      state,
      problem,
    };
  }
}

function keyRow(envelope: string): SecretRow {
  return { id: keyRowId, envelope };
}

function wrongKey({ kind }: KeyRow): McpError {
  const given = {
    environment: "PLUGBOARD_SECRET_KEY is not the key",
    passphrase: "PLUGBOARD_PASSPHRASE is not the passphrase",
    keychain: "the key in the keychain is not the one",
    file: "the key in the key file is not the one",
  }[kind];
  return secretError("key-wrong", `${given} that the secrets are sealed under`, {
    hint: "give the host the key that the vault was made with; nothing was changed",
    details: { holder: kind },
  });
}

function keyRowMissing(): McpError {
  return secretError(
    "key-missing",
    "there are sealed secrets, and the row with their key is gone",
    {
      hint: "restore the database from a backup",
    },
  );
}

function changesTooOften(): McpError {
  return secretError("busy", "other processes keep changing the vault of secrets", {
    hint: "try again",
  });
}
