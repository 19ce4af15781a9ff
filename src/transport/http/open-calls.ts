export interface OpenCall {
  /** Absent for messages that nothing answers. */
  readonly id: string | number | undefined;
}

/**
 * The messages of one connection that are under way, oldest first. Looking for one by its id is rare,
 * and there are as many as the program has calls in flight.
 */
export class OpenCalls<Call extends OpenCall> {
  readonly #calls = new Set<Call>();

  add(call: Call): void {
    this.#calls.add(call);
  }

  /** Nothing happens if it was not there. */
  delete(call: Call): void {
    this.#calls.delete(call);
  }

  find(id: unknown): Call | undefined {
    if (id === undefined) return undefined;
    for (const call of this.#calls) if (call.id === id) return call;
    return undefined;
  }

  all(): readonly Call[] {
    return [...this.#calls];
  }
}
