import { openWith } from "./sdk-v2.mjs";

/**
 * The official SDK when it finds out the era of a server, which it does not do by itself.
 *
 * @type {import("./client.mjs").OpenEchoClient}
 */
export const open = (target) => openWith(target, { versionNegotiation: { mode: "auto" } });
