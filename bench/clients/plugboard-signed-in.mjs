import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { importBuilt } from "./build.mjs";
import { createEchoHost, openHost } from "./plugboard.mjs";

/** @type {import("../../dist/testing/index.js")} */
const { startAuthorizationServer } = await importBuilt("testing/index.js");

/**
 * As `plugboard`, with the token of a sign-in. A person signed in with a browser in another host; the one that is
 * measured finds the token in the store, knows when it ends and could renew it.
 *
 * @type {import("./client.mjs").OpenEchoClient}
 */
export async function open(target) {
  const folder = await mkdtemp(path.join(tmpdir(), "bench-"));
  const storeFile = path.join(folder, "plugboard.db");
  const authorization = await startAuthorizationServer({
    clients: [{ clientId: "bench", redirectUris: ["http://127.0.0.1/callback"] }],
    resource: "optional",
  });
  const auth = {
    type: "oauth",
    clientId: "bench",
    authUrl: `${authorization.issuer}/authorize`,
    tokenUrl: `${authorization.issuer}/token`,
  };
  const before = await createEchoHost([target], { storeFile, auth });
  await before.login("echo0", { present: async ({ url }) => void (await fetch(url)) });
  await before.close();
  await authorization.close();

  const host = await openHost([target], { storeFile, auth });
  const close = async () => {
    await host.close();
    await rm(folder, { recursive: true });
  };
  const client = await host.connect(0);
  // Opening the store is part of a start, not of a call.
  await host.audit.query({ limit: 1 });
  return { ...client, close };
}
