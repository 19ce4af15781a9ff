/** A member of a chain; its neighbours are the chain's to set. */
export interface ChainLink<Link> {
  previous: Link | undefined;
  next: Link | undefined;
}

/**
 * What comes and goes all the time, the oldest first. Not a Map: one that is filled and emptied all the
 * time is copied every few hundred entries, and each copy keeps the next alive, with what is in it, as
 * soon as one of them has grown old. The garbage collector then spends more on what is dead than the
 * program on what is not.
 */
export class Chain<Link extends ChainLink<Link>> {
  #first: Link | undefined;
  #last: Link | undefined;

  get first(): Link | undefined {
    return this.#first;
  }

  add(link: Link): void {
    link.previous = this.#last;
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
  }

  /** Nothing happens if it was not there. */
  delete(link: Link): void {
    const { previous, next } = link;
    if (previous === undefined && this.#first !== link) return;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    // What is over must not lead to what is not.
    link.previous = undefined;
    link.next = undefined;
  }
}
