import { type KeyObject, randomBytes } from "node:crypto";

import type { McpError } from "../../errors/mcp-error.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Keychain } from "../keychain/keychain.ts";
import { fromText, keyBytes, takeKey, toText } from "../seal/envelope.ts";
import { newPlace } from "../seal/key-row.ts";
import { secretError } from "../seal/secret-error.ts";
import type { KeyHolder, NewHeldKey } from "./key-holder.ts";

/** A random key in the keychain of the operating system; the place is the account of its entry. */
export class KeychainHolder implements KeyHolder {
  readonly kind = "keychain";
  readonly #keychain: Keychain;
  readonly #logger: Logger;

  constructor(keychain: Keychain, logger: Logger) {
    this.#keychain = keychain;
    this.#logger = logger;
  }

  async create(): Promise<NewHeldKey> {
    const place = newPlace();
    const bytes = randomBytes(keyBytes);
    try {
      const answer = await this.#keychain.keep(place, toText(bytes));
      if (!answer.isAnswered) throw unusable(answer.reason);
      return { kind: this.kind, place, key: takeKey(bytes) };
    } finally {
      bytes.fill(0);
    }
  }

  async open(place: string): Promise<KeyObject> {
    const answer = await this.#keychain.find(place);
    if (!answer.isAnswered) throw unusable(answer.reason);
    const bytes = fromText(answer.value ?? "");
    if (answer.value !== undefined && bytes?.length === keyBytes) return takeKey(bytes);
    throw secretError("key-missing", "the keychain has no key for this vault", {
      hint: `unlock the keychain of the user who made the vault; its entry is plugboard/${place}`,
    });
  }

  async discard(place: string): Promise<void> {
    const answer = await this.#keychain.remove(place);
    if (!answer.isAnswered)
      this.#logger.warn("a key that is not used any more is still in the keychain", {
        entry: `plugboard/${place}`,
        reason: answer.reason,
      });
  }
}

function unusable(reason: string): McpError {
  return secretError("keychain", `the keychain of this system cannot be used: ${reason}`, {
    hint: "unlock it, or log in where it runs, then try again",
    details: { reason },
  });
}
