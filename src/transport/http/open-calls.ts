import { Chain, type ChainLink } from "../../protocol/channel/chain.ts";

export interface OpenCall<Call> extends ChainLink<Call> {
  /** Absent for messages that nothing answers. */
  readonly id: string | number | undefined;
}

/**
 * The messages of one connection that are under way. Looking for one by its id is rare, and there are
 * as many as the program has calls in flight.
 */
export class OpenCalls<Call extends OpenCall<Call>> extends Chain<Call> {
  find(id: unknown): Call | undefined {
    if (id === undefined) return undefined;
    let call = this.first;
    while (call !== undefined && call.id !== id) call = call.next;
    return call;
  }

  all(): readonly Call[] {
    const calls: Call[] = [];
    for (let call = this.first; call !== undefined; call = call.next) calls.push(call);
    return calls;
  }
}
