import type { Provenance } from "../../config/keys/server-config.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { Logger } from "../../ports/logger.ts";
import type { SecretVault } from "../../secrets/secret-vault.ts";
import { canonicalHash } from "../../text/canonical-hash.ts";
import { SecretText } from "../../text/secrets/secret-text.ts";

/** Where an input is declared: a file, or the one entry that is in no file. */
export interface InputPlace {
  readonly layer: Provenance["layer"];
  /** The file, or the name of the server. */
  readonly path: string;
}

/**
 * Keeps the answers to inputs that are passwords in the vault, each for the file that declares the input. An answer
 * that cannot be kept or read is asked for again at the next start, as one that is no password.
 */
export class KeptAnswers {
  readonly #vault: SecretVault;
  readonly #logger: Logger;

  constructor(vault: SecretVault, logger: Logger) {
    this.#vault = vault;
    this.#logger = logger;
  }

  async read(place: InputPlace, id: string): Promise<SecretText | undefined> {
    const answer = await this.#orWarn("could not be read", this.#vault.read(nameOf(place, id)));
    return answer === undefined ? undefined : new SecretText(answer);
  }

  async write(place: InputPlace, id: string, answer: SecretText): Promise<void> {
    const writing = this.#vault.write(nameOf(place, id), answer.reveal());
    await this.#orWarn("could not be kept", writing);
  }

  /** Removes an answer; returns whether there was one. */
  async forget(place: InputPlace, id: string): Promise<boolean> {
    return await this.#vault.remove(nameOf(place, id));
  }

  async #orWarn<T>(problem: string, work: Promise<T>): Promise<T | undefined> {
    try {
      return await work;
    } catch (error) {
      if (!McpError.is(error)) throw error;
      this.#logger.warn(`the answer to an input ${problem}`, { error: String(error) });
      return undefined;
    }
  }
}

/** The place is a hash, because the path of a file may be long, and tells what somebody works on. */
function nameOf({ layer, path }: InputPlace, id: string): string {
  return `input/${canonicalHash({ layer, path }).slice(0, 32)}/${encodeURIComponent(id)}`;
}
