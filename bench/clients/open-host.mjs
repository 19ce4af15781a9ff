/**
 * Several servers as an application has them: in one host where the client knows such a thing, and
 * otherwise with one client each.
 *
 * @param {string} file of this folder, without its ending
 * @param {readonly import("./client.mjs").Target[]} targets
 * @param {import("./client.mjs").HostOptions} [options]
 * @returns {Promise<import("./client.mjs").EchoHost>}
 */
export async function openHost(file, targets, options) {
  /** @type {{ open: import("./client.mjs").OpenEchoClient, openHost?: import("./client.mjs").OpenEchoHost }} */
  const client = await import(`./${file}.mjs`);
  if (client.openHost !== undefined) return client.openHost(targets, options);
  /** @type {import("./client.mjs").EchoClient<any>[]} */
  const opened = [];
  return {
    connect: async (index, era) => {
      const target = targets[index];
      if (target === undefined) throw new RangeError(`there is no server ${index}`);
      const one = await client.open(target, era);
      opened.push(one);
      return one;
    },
    close: () => Promise.all(opened.map((one) => one.close())),
  };
}
