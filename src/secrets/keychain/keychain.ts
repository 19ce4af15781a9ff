/** What came of a question to the keychain. That it is absent, locked or silent is no surprise, so it is a value. */
export type KeychainAnswer<T> =
  | { readonly isAnswered: true; readonly value: T }
  | {
      readonly isAnswered: false;
      /** For people, to follow a colon. */
      readonly reason: string;
    };

/** The keychain of the operating system, as far as a vault needs it. No method throws or waits without end. */
export interface Keychain {
  /** Keeps a text, after an entry of its own was written, read and removed: some keychains only seem to keep something. */
  keep(account: string, secret: string): Promise<KeychainAnswer<void>>;
  /** Finds a text; undefined when there is none. The person may be asked to unlock the keychain. */
  find(account: string): Promise<KeychainAnswer<string | undefined>>;
  remove(account: string): Promise<KeychainAnswer<void>>;
}
