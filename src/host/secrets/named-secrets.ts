import { isSecretName } from "../../config/variables/secret-names.ts";
import { createError } from "../../errors/families.ts";
import type { Vault } from "../../secrets/vault.ts";
import type { KeptSecrets, KeyHolder } from "../host-secrets.ts";

/** What the vault calls the secrets that people keep under names of their choice. */
const prefix = "named/";

export function vaultNameOf(name: string): string {
  return `${prefix}${name}`;
}

/** Keeps the secrets in the vault that entries name. */
export class NamedSecrets implements KeptSecrets {
  readonly #vault: Vault;

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  async set(name: string, value: string): Promise<void> {
    if (!isSecretName(name))
      throw createError("invalid_arguments", "this is no name for a secret", {
        hint: "use up to 128 letters, digits, _, . and -, and begin with a letter, a digit or _",
        details: { parameter: "name" },
      });
    if (value === "")
      throw createError("invalid_arguments", `the secret "${name}" is empty`, {
        details: { parameter: "value" },
      });
    await this.#vault.write(vaultNameOf(name), value);
  }

  async list(): Promise<readonly string[]> {
    const names = await this.#vault.names(prefix);
    return names.map((name) => name.slice(prefix.length));
  }

  async remove(name: string): Promise<boolean> {
    return await this.#vault.remove(vaultNameOf(name));
  }

  async moveKey(holder: KeyHolder): Promise<void> {
    await this.#vault.moveTo(holder);
  }

  async rotateKey(): Promise<void> {
    await this.#vault.rotate();
  }
}
