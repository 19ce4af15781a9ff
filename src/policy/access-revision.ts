/**
 * Counts the changes of everything that a decision on access stands on: servers, approvals, pins, grants and
 * allowances. A decision that was made holds for as long as the count stays the same.
 */
export class AccessRevision {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  advance(): void {
    this.#count += 1;
  }
}
