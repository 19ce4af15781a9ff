// A program that uses a host of the built package: argv has the servers, and what it says about its logger.
import { connectClient } from "../../dist/entries/client.js";
import { createHost } from "../../dist/index.js";

const [servers, how] = process.argv.slice(2);
const given = JSON.parse(servers);
const heard = [];
const hear = (message) => heard.push(message);
const own = { debug() {}, info() {}, warn: hear, error: hear };
const logger = { default: undefined, false: false, own }[how];
for (const entry of Object.values(given)) await (await connectClient(entry, { logger })).close();
const host = await createHost({ config: false, servers: given, logger });
host.on("tools-changed", () => {
  throw new Error("a handler of the program\nfailed");
});
await host.connectAll();
await host.close();
console.log(JSON.stringify(heard));
