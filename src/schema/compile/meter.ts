/** Ends a check whose budget is used up. The caller that set the budget catches it. */
export class BudgetExceeded extends Error {
  override readonly name = "BudgetExceeded";
}

// One shared instance: creating a stack trace would cost more than the check it ends.
const exceeded = new BudgetExceeded("The budget of this check is used up.");

/**
 * Counts the steps of a check. A step is one schema applied to one value, or an amount of text or
 * comparison that takes about as long (some ten nanoseconds).
 */
export class Meter {
  #left = 0;

  start(budget: number): void {
    this.#left = budget;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw exceeded;
  }

  /** Spends for a loop over `count` items that each take an eighth of a step. */
  spendOn(count: number): void {
    this.spend(count >> 3);
  }
}
