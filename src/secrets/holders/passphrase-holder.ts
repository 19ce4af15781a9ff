import { type KeyObject, scrypt } from "node:crypto";

import { keyBytes, takeKey } from "../seal/envelope.ts";
import { newPlace } from "../seal/key-row.ts";
import { secretError } from "../seal/secret-error.ts";
import type { KeyEnvironment, KeyHolder, NewHeldKey } from "./key-holder.ts";

export const passphraseVariable = "PLUGBOARD_PASSPHRASE";

/**
 * 128 MiB and some tenths of a second for each guess. The version of the key row stands for them: a row that could ask for
 * more would be a way to stop a host.
 */
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

/** A key made of words that whoever starts the host gives it in a variable; the place is the salt. */
export class PassphraseHolder implements KeyHolder {
  readonly kind = "passphrase";
  readonly #env: KeyEnvironment;

  constructor(env: KeyEnvironment) {
    this.#env = env;
  }

  async create(): Promise<NewHeldKey> {
    const place = newPlace();
    return { kind: this.kind, place, key: await this.open(place) };
  }

  async open(place: string): Promise<KeyObject> {
    // Keyboards differ in how they compose an accented letter.
    const words = (this.#env[passphraseVariable] ?? "").normalize("NFC");
    if (words === "")
      throw secretError("key-missing", `${passphraseVariable} is not set`, {
        hint: `set ${passphraseVariable} to the passphrase of the vault`,
      });
    return takeKey(await derive(words, place));
  }

  async discard(): Promise<void> {
    // The salt lies in the key row alone.
  }
}

function derive(words: string, salt: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(words, salt, keyBytes, cost, (error, key) => {
      if (error === null) resolve(key);
      else
        reject(
          secretError("key-missing", "the passphrase cannot be made into a key here", {
            hint: "it takes 128 MB of memory; a key in PLUGBOARD_SECRET_KEY takes none",
            cause: error,
          }),
        );
    });
  });
}
