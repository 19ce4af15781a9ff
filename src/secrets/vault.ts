import type { McpError } from "../errors/mcp-error.ts";
import type { HolderKind } from "./seal/key-row.ts";
import type { SecretVault } from "./secret-vault.ts";

/** Where the key of a vault is held and how it is, for people. It tells nothing of the key. */
export interface VaultStatus {
  /**
   * Who holds the key; `memory` where nothing is kept beyond this host. Undefined for a vault that is yet to be made when
   * that depends on whether the keychain works.
   */
  readonly holder: HolderKind | "memory" | undefined;
  /** The key file, for the holder `file`. */
  readonly file: string | undefined;
  /**
   * `empty`: nothing was ever sealed. `closed`: there are secrets, and their key was not asked for. `open`: the key is
   * there. `refused`: it is not, and `problem` says why.
   */
  readonly state: "empty" | "closed" | "open" | "refused";
  readonly problem: McpError | undefined;
}

export interface StatusOptions {
  /**
   * Whether a closed vault is opened to see whether that works. It takes as long as the holder needs: a keychain may ask
   * the person.
   */
  readonly opens?: boolean | undefined;
}

/** The vault of a host with all that can be done to it. */
export interface Vault extends SecretVault {
  /** Tells where the key is held. Never throws for a vault that is in a bad state, and never makes one. */
  status(options?: StatusOptions): Promise<VaultStatus>;
  /**
   * Lets another holder keep the key, and removes it from the old one. Secrets stay as they are; at whatever moment it
   * ends early, one of the two holds the key. Throws `secret_unavailable` when that holder cannot, and nothing is changed.
   */
  moveTo(holder: HolderKind): Promise<void>;
  /** Seals all secrets under a new key, in one transaction. Throws when one of them cannot be opened, and changes nothing. */
  rotate(): Promise<void>;
}
