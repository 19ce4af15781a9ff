// @ts-check
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * @typedef {import("node:net").Socket} Socket
 * @typedef {{ toxic: string, ms: number }} Order
 * @typedef {(from: Socket, to: Socket, chunk: Buffer, order: Order) => Promise<void> | void} Toxic passes on what came from the server, or does not
 */

/** @param {Socket} to @param {Buffer} chunk */
async function write(to, chunk) {
  if (to.destroyed) return;
  await new Promise((resolve) => to.write(chunk, resolve));
}

/** @param {Buffer} chunk @param {number} size */
function* slices(chunk, size) {
  for (let at = 0; at < chunk.length; at += size) yield chunk.subarray(at, at + size);
}

/** What may happen to a connection on its way, by name. @type {Record<string, Toxic>} */
const toxics = {
  none: (_from, to, chunk) => write(to, chunk),
  async latency(_from, to, chunk, { ms }) {
    await sleep(ms);
    await write(to, chunk);
  },
  /** 1 KB/s. */
  async bandwidth(_from, to, chunk) {
    for (const slice of slices(chunk, 50)) {
      await write(to, slice);
      await sleep(50);
    }
  },
  async slicer(_from, to, chunk) {
    for (const slice of slices(chunk, 5)) {
      await write(to, slice);
      await sleep(1);
    }
  },
  /** After the server did what it was asked. */
  reset(from, to) {
    to.resetAndDestroy();
    from.destroy();
  },
  /** The connection stays what it is, and dead: better times are for new ones. */
  blackhole: () => new Promise(() => {}),
};

/** A server that behaves, behind a network that does not. @type {Record<string, import("./http-modes.mjs").HttpMode>} */
export const toxicModes = {
  toxic: () => {
    /** @type {Order} */
    let current = { toxic: "none", ms: 0 };
    /** @param {Socket} from @param {Socket} to @param {() => Toxic | undefined} toxic */
    const pass = async (from, to, toxic) => {
      for await (const chunk of from) await toxic()?.(from, to, chunk, current);
      to.end();
    };
    return {
      onOrder(order) {
        current = order;
      },
      front: (port) =>
        new Promise((resolve) => {
          const proxy = createServer((client) => {
            const server = connect(port, "127.0.0.1");
            for (const socket of [client, server]) socket.on("error", () => {});
            client.once("close", () => server.destroy());
            pass(client, server, () => toxics["none"]).catch(() => {});
            pass(server, client, () => toxics[current.toxic]).catch(() => {});
          });
          proxy.listen(0, "127.0.0.1", () => {
            const address = proxy.address();
            resolve(typeof address === "object" && address !== null ? address.port : 0);
          });
        }),
    };
  },
};
