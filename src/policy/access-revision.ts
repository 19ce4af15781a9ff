/** A host whose servers come and go would otherwise remember every id it ever had. */
const maxIds = 10_000;

/**
 * Counts the changes of everything that a decision on access stands on: servers, approvals, pins, grants and
 * allowances. A change is noted under an id of the servers it is about: their name, entry id or consent id. A
 * decision holds until a change is noted under an id of its server, or one that is about every server.
 */
export class AccessRevision {
  #count = 0;
  /** The count after the last change of each id. */
  readonly #changes = new Map<string, number>();
  /** The count after the last change that was about every server. */
  #changeOfAll = 0;

  get count(): number {
    return this.#count;
  }

  /** Notes a change about the servers with this id; without an id, about every server. */
  advance(id?: string): void {
    this.#count += 1;
    if (id !== undefined && (this.#changes.has(id) || this.#changes.size < maxIds)) {
      this.#changes.set(id, this.#count);
      return;
    }
    this.#changes.clear();
    this.#changeOfAll = this.#count;
  }

  /** Whether a change was noted after this count that is about a server with these ids. */
  hasChanged(ids: readonly string[], since: number): boolean {
    if (this.#changeOfAll > since) return true;
    return ids.some((id) => (this.#changes.get(id) ?? 0) > since);
  }
}
