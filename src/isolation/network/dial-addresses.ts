import { type Socket, isIP } from "node:net";

import type { buildConnector } from "undici";

import { untilAborted } from "../../async/until-aborted.ts";

/** How long one address may stay silent before the next is tried beside it (RFC 8305). */
const staggerMs = 250;

/**
 * Opens a connection to the first of `addresses` that answers. `target.host` stays the name: TLS
 * checks it, and it is what the server sees. Rejects with the first failure when all have failed, or
 * with the reason of `signal`; nothing is left open then.
 */
export async function dialAddresses(
  addresses: readonly string[],
  target: buildConnector.Options,
  connect: buildConnector.connector,
  signal: AbortSignal,
): Promise<Socket> {
  // The declared type hides that undici's connector returns the socket it is opening.
  const open = connect as (...args: Parameters<typeof connect>) => Socket;
  const waiting = interleaveFamilies(addresses);
  const opening = new Set<Socket>();
  const failures: Error[] = [];

  if (signal.aborted) throw signal.reason;
  let timer: NodeJS.Timeout | undefined;
  const dialled = new Promise<Socket>((resolve, reject) => {
    const openNext = (): void => {
      clearTimeout(timer);
      const address = waiting.shift();
      if (address === undefined) {
        if (opening.size > 0) return;
        return reject(failures[0] ?? new Error("there is no address to dial"));
      }
      const socket = open({ ...target, hostname: address }, (error, connected) => {
        opening.delete(socket);
        if (error === null) return resolve(connected);
        failures.push(error);
        if (!signal.aborted) openNext();
      });
      opening.add(socket);
      // A machine that took the connection may think about TLS as long as the deadline allows.
      socket.once("connect", () => clearTimeout(timer));
      if (waiting.length > 0) timer = setTimeout(openNext, staggerMs).unref();
    };
    openNext();
  });
  try {
    return await untilAborted(dialled, signal);
  } finally {
    clearTimeout(timer);
    waiting.length = 0;
    for (const socket of opening) socket.destroy();
  }
}

/** The resolver's order, with the two families taking turns: one of them may be broken as a whole. */
function interleaveFamilies(addresses: readonly string[]): string[] {
  const family = isIP(addresses[0] ?? "");
  const first = addresses.filter((address) => isIP(address) === family);
  const second = addresses.filter((address) => isIP(address) !== family);
  return first
    .flatMap((address, index) => [address, ...second.slice(index, index + 1)])
    .concat(second.slice(first.length));
}
