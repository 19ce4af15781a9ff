import type { Verdict } from "./judge.ts";
import { rules } from "./rules.ts";

/** How many transcripts were played, and how they ended. */
export class Tally {
  #equal = 0;
  #explained = 0;
  #unexplained = 0;
  readonly #hits = new Map(rules.map(({ id }) => [id, 0]));

  add({ explained, unexplained }: Verdict): void {
    if (unexplained.length > 0) this.#unexplained += 1;
    else if (explained.length > 0) this.#explained += 1;
    else this.#equal += 1;
    for (const { rule } of explained) this.#hits.set(rule.id, (this.#hits.get(rule.id) ?? 0) + 1);
  }

  get unexplained(): number {
    return this.#unexplained;
  }

  /** Rules that have explained nothing. */
  get idleRules(): readonly string[] {
    return [...this.#hits].filter(([, count]) => count === 0).map(([id]) => id);
  }

  get text(): string {
    const total = this.#equal + this.#explained + this.#unexplained;
    const width = Math.max(...rules.map(({ id }) => id.length));
    return [
      `${total} transcripts: ${this.#equal} equal, ${this.#explained} with explained differences, ${this.#unexplained} unexplained`,
      ...[...this.#hits].map(([id, count]) => `  ${id.padEnd(width)} ${count}`),
    ].join("\n");
  }
}
