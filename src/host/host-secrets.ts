import type { HolderKind } from "../secrets/seal/key-row.ts";

/** Who can hold the key that secrets are sealed under; docs/secrets.md says what fits where. */
export type KeyHolder = HolderKind;

/** Gives the secret of a name; undefined when there is none. */
export type SecretProvider = (name: string) => string | undefined | Promise<string | undefined>;

/** The secrets that are kept for `${secret:name}`, sealed; where the host keeps nothing, in memory until it closes. */
export interface KeptSecrets {
  /** Keeps a secret in place of the one of that name. A server that runs gets it when it starts again. */
  set(name: string, value: string): Promise<void>;
  /** The names, in order; never a value. */
  list(): Promise<readonly string[]>;
  /** Removes a secret; returns whether there was one. */
  remove(name: string): Promise<boolean>;
  /**
   * Lets another holder keep the key of all that is sealed here, tokens of sign-ins included, and removes it from the old
   * one. Throws `secret_unavailable` when that holder cannot, and changes nothing.
   */
  moveKey(holder: KeyHolder): Promise<void>;
  /** Seals all that is kept under a new key, all of it or nothing. */
  rotateKey(): Promise<void>;
}
