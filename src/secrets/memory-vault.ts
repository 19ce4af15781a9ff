import { secretError } from "./seal/secret-error.ts";
import type { Vault, VaultStatus } from "./vault.ts";

/** Keeps secrets for as long as this host lives, where it keeps nothing else either. */
export class MemoryVault implements Vault {
  readonly #values = new Map<string, string>();

  async read(name: string): Promise<string | undefined> {
    return this.#values.get(name);
  }

  async write(name: string, value: string): Promise<void> {
    this.#values.set(name, value);
  }

  async remove(name: string): Promise<boolean> {
    return this.#values.delete(name);
  }

  async names(prefix: string): Promise<readonly string[]> {
    return [...this.#values.keys()].filter((name) => name.startsWith(prefix)).toSorted();
  }

  async status(): Promise<VaultStatus> {
    return { holder: "memory", file: undefined, state: "open", problem: undefined };
  }

  async moveTo(): Promise<void> {
    throw secretError(
      "key-missing",
      "secrets of this host are kept in memory only, without a key",
      {
        hint: "name a file as `store`",
      },
    );
  }

  async rotate(): Promise<void> {
    // There is no key.
  }
}
