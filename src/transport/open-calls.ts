/** A member of the list. */
export interface OpenCall {
  /** Absent for messages that nothing answers. */
  readonly id: string | number | undefined;
  // The list's own: its neighbours.
  previous: this | undefined;
  next: this | undefined;
}

/**
 * The messages of one connection that are under way, the oldest first. Not a Map, for the reason that
 * `OpenRequests` has: they come and go all the time. Looking for one by its id is rare, and there are as
 * many as the program has calls in flight.
 */
export class OpenCalls<Call extends OpenCall> {
  #first: Call | undefined;
  #last: Call | undefined;

  add(call: Call): void {
    call.previous = this.#last;
    if (this.#last === undefined) this.#first = call;
    else this.#last.next = call;
    this.#last = call;
  }

  /** Nothing happens if it was not there. */
  delete(call: Call): void {
    const { previous, next } = call;
    if (previous === undefined && this.#first !== call) return;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    call.previous = undefined;
    call.next = undefined;
  }

  find(id: unknown): Call | undefined {
    if (id === undefined) return undefined;
    let call = this.#first;
    while (call !== undefined && call.id !== id) call = call.next;
    return call;
  }

  all(): readonly Call[] {
    const calls: Call[] = [];
    for (let call = this.#first; call !== undefined; call = call.next) calls.push(call);
    return calls;
  }
}
