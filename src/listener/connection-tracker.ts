import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * The open connections of a listener, at most `maxPerAddress` for each client address. A connection
 * is busy from the moment a request head is complete until its answer is done. When an address is
 * full, its oldest idle connection makes room, so that sockets which never finish a request cannot
 * lock out a client that does; only when all are busy is the new one refused.
 */
export class ConnectionTracker {
  readonly #maxPerAddress: number;
  readonly #byAddress = new Map<string, Set<Socket>>();
  readonly #answersInFlight = new WeakMap<Socket, number>();
  #isDraining = false;

  constructor(maxPerAddress: number) {
    this.#maxPerAddress = maxPerAddress;
  }

  admit(socket: Socket, address: string | undefined): void {
    // No address: the client has gone again before the connection reached us.
    if (address === undefined) return void socket.destroy();
    const open = this.#byAddress.get(address) ?? new Set();
    if (open.size >= this.#maxPerAddress) {
      const idle = [...open].find((candidate) => !this.#isBusy(candidate));
      if (idle === undefined) return void socket.destroy();
      open.delete(idle);
      idle.destroy();
    }
    open.add(socket);
    this.#byAddress.set(address, open);
    socket.once("close", () => {
      open.delete(socket);
      if (open.size === 0 && this.#byAddress.get(address) === open) this.#byAddress.delete(address);
    });
  }

  /** Counts the socket as busy until `answer` is written or abandoned. */
  begin(socket: Socket, answer: ServerResponse): void {
    this.#answersInFlight.set(socket, this.#inFlight(socket) + 1);
    answer.once("close", () => {
      this.#answersInFlight.set(socket, this.#inFlight(socket) - 1);
      if (this.#isDraining && !this.#isBusy(socket)) socket.destroySoon();
    });
  }

  /** Ends every idle connection now and each busy one after its answer. */
  drain(): void {
    this.#isDraining = true;
    for (const socket of this.#sockets()) if (!this.#isBusy(socket)) socket.destroySoon();
  }

  destroyAll(): void {
    for (const socket of this.#sockets()) socket.destroy();
  }

  #sockets(): Socket[] {
    return [...this.#byAddress.values()].flatMap((open) => [...open]);
  }

  #inFlight(socket: Socket): number {
    return this.#answersInFlight.get(socket) ?? 0;
  }

  #isBusy(socket: Socket): boolean {
    return this.#inFlight(socket) > 0;
  }
}
