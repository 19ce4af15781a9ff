import { Chain } from "./chain.ts";
import type { RpcRequest } from "./rpc-request.ts";

const fewestPlaces = 64;

/**
 * The requests that wait, by id and in the order they were sent. Not a Map, for the reason that `Chain`
 * has.
 */
export class OpenRequests {
  /** A request has the place that the last digits of its id name. */
  #places: (RpcRequest | undefined)[] = emptyPlaces(fewestPlaces);
  #size = 0;
  readonly #inOrder = new Chain<RpcRequest>();
  #lastId = 0;

  get size(): number {
    return this.#size;
  }

  /** The highest id that was given. */
  get lastId(): number {
    return this.#lastId;
  }

  /** Gives the request its id. Ids count upwards; one whose place is taken is passed over. */
  add(request: RpcRequest): void {
    if (this.#size * 2 >= this.#places.length) this.#grow();
    let id = this.#lastId + 1;
    while (this.#places[this.#placeOf(id)] !== undefined) id += 1;
    request.id = id;
    this.#lastId = id;
    this.#places[this.#placeOf(id)] = request;
    this.#size += 1;
    this.#inOrder.add(request);
  }

  /** Under exactly this id: `"7"` is not `7`. */
  get(id: unknown): RpcRequest | undefined {
    if (typeof id !== "number") return undefined;
    const request = this.#places[this.#placeOf(id)];
    return request?.id === id ? request : undefined;
  }

  /** False when it does not wait. */
  delete(request: RpcRequest): boolean {
    if (this.get(request.id) !== request) return false;
    this.#places[this.#placeOf(request.id)] = undefined;
    this.#size -= 1;
    this.#inOrder.delete(request);
    return true;
  }

  /** Oldest first. The one at hand may be deleted; the walk ends when the next one has gone as well. */
  *[Symbol.iterator](): Generator<RpcRequest, void, undefined> {
    let request = this.#inOrder.first;
    while (request !== undefined && this.get(request.id) === request) {
      const { next } = request;
      yield request;
      request = next;
    }
  }

  #placeOf(id: number): number {
    return id & (this.#places.length - 1);
  }

  /** Ids that had places of their own among fewer have them among more. */
  #grow(): void {
    const before = this.#places;
    this.#places = emptyPlaces(before.length * 2);
    for (const request of before)
      if (request !== undefined) this.#places[this.#placeOf(request.id)] = request;
  }
}

/** A power of two, so that a place is a few bits of the id. */
function emptyPlaces(count: number): (RpcRequest | undefined)[] {
  return Array.from({ length: count }, () => undefined);
}
