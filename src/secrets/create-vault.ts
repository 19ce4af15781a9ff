import { loadOnce } from "../async/load-once.ts";
import { createError } from "../errors/families.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { HostStore } from "../store/host-store.ts";
import type { Keychain } from "./keychain/keychain.ts";
import { MemoryVault } from "./memory-vault.ts";
import type { HolderKind } from "./seal/key-row.ts";
import { reservedPrefix } from "./seal/reserved-names.ts";
import type { StatusOptions, Vault, VaultStatus } from "./vault.ts";

export interface VaultOptions {
  readonly store: HostStore;
  /** Where the variables of a key and of the user's session are looked up. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's own folder, for a key file. */
  readonly folder: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** In place of the keychain of the operating system. */
  readonly keychain?: Keychain | undefined;
}

/** Makes the vault of a host. Nothing is loaded, read or made before somebody asks for a secret. */
export function createVault(options: VaultOptions): Vault {
  return new HostVault(options);
}

class HostVault implements Vault {
  readonly #load: () => Promise<Vault>;

  constructor(options: VaultOptions) {
    this.#load = loadOnce(() => load(options));
  }

  async read(name: string): Promise<string | undefined> {
    return isReserved(name) ? undefined : await (await this.#load()).read(name);
  }

  async write(name: string, value: string): Promise<void> {
    if (name === "" || isReserved(name))
      throw createError("invalid_arguments", `a secret cannot be called ${JSON.stringify(name)}`);
    await (await this.#load()).write(name, value);
  }

  async remove(name: string): Promise<boolean> {
    return !isReserved(name) && (await (await this.#load()).remove(name));
  }

  async names(prefix: string): Promise<readonly string[]> {
    return await (await this.#load()).names(prefix);
  }

  async status(options?: StatusOptions): Promise<VaultStatus> {
    return await (await this.#load()).status(options);
  }

  async moveTo(holder: HolderKind): Promise<void> {
    await (await this.#load()).moveTo(holder);
  }

  async rotate(): Promise<void> {
    await (await this.#load()).rotate();
  }
}

async function load({ store, ...options }: VaultOptions): Promise<Vault> {
  // A database in memory ends with the host, and a key on the disk would outlive it.
  if (store.kind === undefined || store.kind === "memory") return new MemoryVault();
  const [{ SealedVault }, { KeyHolders }] = await Promise.all([
    import("./sealed-vault.ts"),
    import("./holders/key-holders.ts"),
  ]);
  return new SealedVault(
    store,
    new KeyHolders({ ...options, isShared: store.kind === "postgres" }),
  );
}

/** Whether the vault keeps a row of its own under such a name. */
function isReserved(name: string): boolean {
  return name.startsWith(reservedPrefix);
}
