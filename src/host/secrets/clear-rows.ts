import { consentIdOf, launchFacts } from "../../approval/launch-facts.ts";
import { quoteName } from "../../config/keys/check-value.ts";
import type { ConsentId } from "../../config/keys/server-ids.ts";
import { parseConfig } from "../../config/parse/parse-config.ts";
import { McpError } from "../../errors/mcp-error.ts";
import type { HostStore } from "../../store/host-store.ts";
import type { ExchangedEntry, ServerRow } from "../../store/rows/server-rows.ts";
import type { Store } from "../../store/store.ts";
import { findSecrets } from "../files/entry-secrets.ts";
import type { EntryVault } from "./entry-vault.ts";

export interface ClearRowsOptions {
  readonly store: HostStore;
  readonly entryVault: EntryVault;
  /** Tells people, once for each text. */
  readonly warn: (text: string) => void;
}

/**
 * Moves secrets that lie in clear text in rows of servers to the vault: those that an earlier version has written, and
 * another program that writes such rows. The secret is written first, then the row that refers to it, unless somebody
 * has changed the row meanwhile; at whatever moment the process ends, every server has its secrets, and the next host
 * goes on. A row whose secrets cannot be sealed stays as it is, and works.
 */
export class ClearRows {
  readonly #options: ClearRowsOptions;
  readonly #told = new Set<string>();

  constructor(options: ClearRowsOptions) {
    this.#options = options;
  }

  /** Moves what there is to move, and gives the rows as they are then. Costs a look at each row where there is nothing. */
  async move(rows: readonly ServerRow[]): Promise<readonly ServerRow[]> {
    const isDue = await this.#options.store.read(async ({ erasure }) => erasure.isDue, false);
    const clear = rows.filter(({ config }) => findSecrets(config).length > 0);
    if (clear.length === 0 && !isDue) return rows;
    try {
      const isMoved = await this.#options.store.write((store) => this.#moveAll(store, clear));
      if (isMoved !== true) return rows;
      return await this.#options.store.read(({ servers }) => servers.list(), rows);
    } catch (error) {
      if (!McpError.is(error)) throw error;
      const names = listed(clear);
      const what = names === "" ? "What was deleted from the store" : `The secrets of ${names}`;
      const hint = error.hint === undefined ? "" : ` (${error.hint})`;
      this.#tell(`${what} lie in clear text there, because ${error.message}${hint}`);
      return rows;
    }
  }

  async #moveAll(store: Store, clear: readonly ServerRow[]): Promise<boolean> {
    const { entryVault } = this.#options;
    if (clear.length > 0 && store.erasure.isBeyondReach)
      // Before anything is moved: afterwards nobody knows any more what lay there.
      this.#tell(
        `The secrets of ${listed(clear)} lay in clear text in the database, and are moved to the vault. ` +
          "Its logs and backups may have them still: replace these credentials where they were issued",
      );
    for (const row of clear) {
      const sealed = await entryVault.seal(row.id, row.config);
      await entryVault.write(sealed);
      const isExchanged = await store.servers.exchange({
        id: row.id,
        before: row.config,
        config: sealed.entry,
        consentIds: consentIdsOf(row, sealed.entry),
      });
      // Another process was faster, or the entry is another one by now.
      if (!isExchanged) await entryVault.discard(sealed);
    }
    await store.erasure.run();
    return clear.length > 0;
  }

  #tell(text: string): void {
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.#options.warn(text);
  }
}

function listed(rows: readonly ServerRow[]): string {
  return rows.map(({ name }) => quoteName(name)).join(", ");
}

/** What consents are kept under before and after; undefined for an entry that cannot be used. */
function consentIdsOf(
  { name, config }: ServerRow,
  sealed: ServerRow["config"],
): ExchangedEntry["consentIds"] {
  const [before, after] = [config, sealed].map((entry) => consentId(name, entry));
  return before === undefined || after === undefined ? undefined : { before, after };
}

function consentId(name: string, entry: ServerRow["config"]): ConsentId | undefined {
  const provenance = { layer: "store" } as const;
  const [config] = parseConfig({ servers: { [name]: entry } }, { provenance }).servers;
  return config === undefined ? undefined : consentIdOf(launchFacts(config), provenance);
}
