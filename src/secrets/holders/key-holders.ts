import { McpError } from "../../errors/mcp-error.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Keychain } from "../keychain/keychain.ts";
import { ProcessKeychain } from "../keychain/process-keychain.ts";
import type { HeldKey, HolderKind } from "../seal/key-row.ts";
import { secretError } from "../seal/secret-error.ts";
import { EnvironmentHolder, keyVariable } from "./environment-holder.ts";
import { KeyFileHolder } from "./key-file-holder.ts";
import type { KeyEnvironment, KeyHolder, NewHeldKey } from "./key-holder.ts";
import { KeychainHolder } from "./keychain-holder.ts";
import { PassphraseHolder, passphraseVariable } from "./passphrase-holder.ts";

export interface KeyHoldersOptions {
  readonly env: KeyEnvironment;
  /** The user's own folder. */
  readonly folder: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether hosts on other machines use the same store, so that a key of this machine would lock them out. */
  readonly isShared: boolean;
  readonly keychain?: Keychain | undefined;
}

/** Everybody who can hold the key of a vault here. */
export class KeyHolders {
  readonly #options: KeyHoldersOptions;
  readonly #files: KeyFileHolder;
  readonly #keychain: KeychainHolder;

  constructor(options: KeyHoldersOptions) {
    const { env, folder, clock, logger, keychain = new ProcessKeychain({ env, clock }) } = options;
    this.#options = options;
    this.#files = new KeyFileHolder(folder, logger);
    this.#keychain = new KeychainHolder(keychain, logger);
  }

  /** Throws for a holder that is on this machine alone when the store is not. */
  of(kind: HolderKind): KeyHolder {
    const { env, isShared } = this.#options;
    if (kind === "environment") return new EnvironmentHolder(env);
    if (kind === "passphrase") return new PassphraseHolder(env);
    if (isShared) throw needsSharedKey();
    return kind === "keychain" ? this.#keychain : this.#files;
  }

  /** The file that holds a key; undefined for other holders. */
  fileOf({ kind, place }: HeldKey): string | undefined {
    return kind === "file" ? this.#files.fileOf(place) : undefined;
  }

  /**
   * Tells who will hold the key of a new vault; undefined when that depends on the keychain. Throws when nobody can. A
   * variable that is set is meant, even where its value turns out to be no key.
   */
  expected(): HolderKind | undefined {
    const { env, isShared } = this.#options;
    if ((env[keyVariable] ?? "") !== "") return "environment";
    if ((env[passphraseVariable] ?? "") !== "") return "passphrase";
    if (isShared) throw needsSharedKey();
    return undefined;
  }

  /** Makes the key of a new vault, where the first holder that can will hold it. */
  async create(): Promise<NewHeldKey> {
    const expected = this.expected();
    if (expected !== undefined) return await this.of(expected).create();
    try {
      return await this.#keychain.create();
    } catch (error) {
      if (!McpError.is(error, "secret_unavailable")) throw error;
      const held = await this.#files.create();
      this.#options.logger.warn(
        "secrets are sealed with a key in a file, because the keychain of this system cannot be used",
        { file: this.#files.fileOf(held.place), reason: error.details["reason"] },
      );
      return held;
    }
  }

  async discard({ kind, place }: HeldKey): Promise<void> {
    await this.of(kind).discard(place);
  }
}

function needsSharedKey(): McpError {
  return secretError(
    "key-missing",
    "secrets in a shared database need a key that every machine is given",
    { hint: `set ${keyVariable} or ${passphraseVariable} to the same on all of them` },
  );
}
