/**
 * Keeps secrets for the host: sealed rows of its store, or memory where nothing is kept. Whoever asks names a
 * secret by a path such as `sign-in/<id>`; the name is bound into the seal, so that no row can stand in for another.
 */
export interface SecretVault {
  /**
   * Reads a secret; undefined when there is none of that name. Throws `secret_unavailable` when the key is missing
   * or wrong, or the row was changed: nothing of it is returned then.
   */
  read(name: string): Promise<string | undefined>;
  /** Keeps a secret in place of the one of that name; it is durable once this resolves. */
  write(name: string, value: string): Promise<void>;
  /** Removes a secret; returns whether there was one. Needs no key. */
  remove(name: string): Promise<boolean>;
  /** Lists the names that begin with `prefix`, in order. Needs no key. */
  names(prefix: string): Promise<readonly string[]>;
}
