/** Thrown inside a check when its budget is used up, and caught by whoever set the budget. */
export class BudgetExceeded extends Error {
  override readonly name = "BudgetExceeded";
}

// One instance: a stack trace would cost more than the check it ends.
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

  /** For a loop over `count` small things, each much quicker than a step. */
  spendOn(count: number): void {
    this.spend(count >> 3);
  }
}
