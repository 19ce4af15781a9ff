import { formatOrigin } from "../../config/keys/config-problem.ts";
import { type ServerConfig, valueProviders } from "../../config/keys/server-config.ts";
import { secretUses } from "../../config/variables/reference-uses.ts";
import { howToStore, isEntrySecret, isGivenSecret } from "../../config/variables/secret-names.ts";
import { createError } from "../../errors/families.ts";
import type { McpError } from "../../errors/mcp-error.ts";
import type { SecretVault } from "../../secrets/secret-vault.ts";
import { SecretText } from "../../text/secrets/secret-text.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { SecretProvider } from "../host-secrets.ts";
import { vaultNameOf } from "./named-secrets.ts";

export interface SecretSourceOptions {
  readonly vault: SecretVault;
  /** What the program gives, which is asked before the vault. */
  readonly provider: SecretProvider | undefined;
  /** The folder that places in messages are shown from. */
  readonly workspaceFolder: string;
}

/** A reference of an entry to a secret. */
export interface SecretUse {
  readonly name: string;
  /** The field of the entry that refers to it. */
  readonly field: string;
}

/** Finds the secrets that entries refer to. It keeps none of them: each start of a server asks anew. */
export class SecretSource {
  readonly #options: SecretSourceOptions;

  constructor(options: SecretSourceOptions) {
    this.#options = options;
  }

  /**
   * Throws `variable_unset` when there is no secret of that name, and `secret_unavailable` when it cannot be read.
   * Neither says a value, nor what the program's own code said when it failed.
   */
  async find(config: ServerConfig, use: SecretUse): Promise<SecretText> {
    const value = isGivenSecret(use.name)
      ? await this.#ofFunction(config, use)
      : isEntrySecret(use.name)
        ? await this.#ofEntry(config, use)
        : await this.#named(config, use);
    if (value === undefined || value === "")
      throw this.#failure(
        "variable_unset",
        isGivenSecret(use.name) ? "was given as nothing" : "is not stored",
        config,
        use,
      );
    return new SecretText(value);
  }

  /** Lists the secrets that a start would not find. Reads no value; what the program gives is known only then. */
  async missing(config: ServerConfig): Promise<readonly SecretUse[]> {
    const { vault, provider } = this.#options;
    const uses = [...secretUses(config)].map(([name, field]) => ({ name, field }));
    const found = await Promise.all(
      uses.map(async ({ name }) => {
        if (isGivenSecret(name)) return true;
        const isOfEntry = isEntrySecret(name);
        const kept = isOfEntry ? name : vaultNameOf(name);
        return (!isOfEntry && provider !== undefined) || (await vault.names(kept)).includes(kept);
      }),
    );
    return uses.filter((_, index) => found[index] === false);
  }

  async #ofFunction(config: ServerConfig, use: SecretUse): Promise<string | undefined> {
    const provider = config[valueProviders]?.get(use.name);
    return provider === undefined ? undefined : await this.#given(provider, config, use);
  }

  /** A secret of a stored entry is for that entry. What a file says, somebody else may have written. */
  async #ofEntry(config: ServerConfig, use: SecretUse): Promise<string | undefined> {
    const { layer } = config.provenance;
    if (layer !== "store" && layer !== "code")
      throw this.#failure("variable_unset", "belongs to another entry", config, use);
    return await this.#options.vault.read(use.name);
  }

  async #named(config: ServerConfig, use: SecretUse): Promise<string | undefined> {
    const { provider, vault } = this.#options;
    const given =
      provider === undefined ? undefined : await this.#given(() => provider(use.name), config, use);
    return given ?? (await vault.read(vaultNameOf(use.name)));
  }

  async #given(
    provide: () => unknown,
    config: ServerConfig,
    use: SecretUse,
  ): Promise<string | undefined> {
    let given: unknown;
    try {
      given = await provide();
    } catch {
      throw this.#failure("secret_unavailable", "could not be given by the program", config, use);
    }
    if (given === undefined || typeof given === "string") return given;
    if (SecretText.is(given)) return given.reveal();
    throw this.#failure("secret_unavailable", "was given as something else than text", config, use);
  }

  #failure(
    code: "variable_unset" | "secret_unavailable",
    problem: string,
    { name: serverName, provenance }: ServerConfig,
    { name, field }: SecretUse,
  ): McpError {
    const place = formatOrigin(provenance, this.#options.workspaceFolder);
    const isGiven = isGivenSecret(name);
    const what = isGiven ? `"${neutralizeLine(field)}"` : `\${secret:${neutralizeLine(name)}}`;
    return createError(code, `${what} ${problem} (${place})`, {
      serverName,
      hint: isGiven
        ? "it is a function of the program, which is called at each start"
        : howToStore(neutralizeLine(name), serverName, field),
      details: { ...provenance, field, variable: `secret:${name}` },
    });
  }
}
