import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { inspect } from "node:util";

import { isBuilt } from "../../../scripts/build-dist.mjs";
import type { McpHost } from "../../../src/index.ts";
import { HostProcess } from "../../fixtures/oauth/host-process.ts";
import { signInByHand } from "../../fixtures/oauth/sign-in-by-hand.ts";
import { SignInPlace } from "../../fixtures/oauth/sign-in-place.ts";
import { runCommand } from "../command-line.ts";
import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import { Project } from "../project.ts";
import { type Figures, type Row, zero } from "../row.ts";
import { watchSpawns } from "../spawns.ts";

function canary(kind: string): string {
  return `canary-${kind}-${randomBytes(12).toString("hex")}`;
}

/** Secrets that must be seen nowhere, in the forms in which they could be. */
class Secrets {
  readonly #values = new Set<string>();

  add(...texts: readonly (string | undefined)[]): void {
    for (const text of texts)
      // What is short is found by accident.
      if (text !== undefined && text.length >= 16) this.#values.add(text);
  }

  /** What was sent to a server and an issuer that is known to nobody else. */
  addFrom({ server, auth }: SignInPlace): void {
    for (const { headers } of server.requests)
      this.add(headers["authorization"]?.replace(/^\w+ /, ""));
    const members = ["refresh_token", "token", "code", "code_verifier", "client_secret"];
    for (const { body } of auth.requests)
      for (const name of members) {
        const value = (body as Readonly<Record<string, unknown>> | undefined)?.[name];
        // The doctor asks with a code of its own making, which is no secret.
        if (typeof value === "string" && value !== "plugboard-doctor") this.add(value);
      }
  }

  get count(): number {
    return this.#values.size;
  }

  async sightings(texts: Iterable<string>): Promise<number> {
    let count = 0;
    for (const text of texts) {
      for (const value of this.#values)
        for (const form of [value, Buffer.from(value).toString("base64").replace(/=+$/, "")])
          count += text.split(form).length - 1;
      await nextTurn();
    }
    return count;
  }
}

/** Every file below a folder but the entries that somebody wrote, as text; UTF-16 is read as such, too. */
function* filesBelow(folder: string): Generator<string> {
  for (const item of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!item.isFile() || item.name === "mcp.json") continue;
    const bytes = readFileSync(path.join(item.parentPath, item.name));
    yield bytes.toString("latin1");
    yield bytes.toString("utf16le");
  }
}

/** A host of a project whose logger and events are written down. */
async function openWatched(product: Product, project: Project, env: Record<string, string>) {
  const said: string[] = [];
  const note =
    (level: string) =>
    (...words: readonly unknown[]): void =>
      void said.push(`${level} ${inspect(words, { depth: 9 })}`);
  const host = await project.open(product, {
    env,
    logger: { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") },
  });
  host.on("*", (event) => void said.push(inspect(event, { depth: 9 })));
  return { host, said };
}

async function call(host: McpHost, name: string, said: string[]): Promise<void> {
  const session = host.session({ level: "yolo" });
  const ready = await session.ready({ servers: [name] });
  const outcome = await session.call(`mcp__${name}__echo`, { message: "hello" });
  said.push(inspect([ready, outcome], { depth: 9 }), JSON.stringify([ready, outcome]));
}

async function showCanaries(lab: Lab, product: Product): Promise<Figures> {
  const figures = {
    "in logs, events and errors": 0,
    "in status and audit": 0,
    "in output of commands": 0,
    "in words of children": 0,
    "in a diagnostic report": 0,
    "in files": 0,
    "sign-ins that failed": 0,
    "secrets looked for": 0,
  };
  for (let round = 0; round < lab.count; round += 1) {
    using project = new Project();
    const secrets = new Secrets();
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    secrets.add(...pem.split("\n").filter((line) => !line.startsWith("-----")));
    const given = Object.fromEntries(
      [
        "client-secret",
        "robot-secret",
        "bearer",
        "header",
        "assertion",
        "id-token",
        "idp-secret",
        "bad-token",
        "passphrase",
      ].map((kind) => [kind, canary(kind)]),
    );
    secrets.add(...Object.values(given));
    const redirectUris = ["http://127.0.0.1/callback"];
    await using place = await SignInPlace.open(
      {
        grants: ["authorization_code", "refresh_token", "client_credentials"],
        clients: [
          { clientId: "hand", clientSecret: given["client-secret"], redirectUris },
          { clientId: "robot", clientSecret: given["robot-secret"] },
          {
            clientId: "keyed",
            authMethod: "private_key_jwt",
            publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
          },
        ],
      },
      {},
      product.createHost,
    );
    const { url } = place.server;
    const oauth = (more: object): object => ({ url, auth: { type: "oauth", ...more } });
    const machine = { grant: "client_credentials" };
    const entries = {
      app: oauth({ clientAuthMethod: "client_secret_post" }),
      hand: oauth({ clientId: "hand", clientSecret: given["client-secret"] }),
      robot: oauth({ ...machine, clientId: "robot", clientSecret: given["robot-secret"] }),
      keyed: oauth({ ...machine, clientId: "keyed", privateKey: pem }),
      pasted: oauth({ clientMetadataUrl: "https://agent.example.com/client.json" }),
      bearer: { url, auth: { type: "bearer", token: given["bearer"] } },
      header: { url, headers: { "X-Api-Key": given["header"] } },
      asserted: oauth({ grant: "jwt-bearer", clientId: "robot", assertion: given["assertion"] }),
      company: oauth({
        grant: "enterprise",
        clientId: "robot",
        identityProvider: place.auth.issuer,
        idToken: given["id-token"],
        idpClientId: "us",
        idpClientSecret: given["idp-secret"],
      }),
    };
    project.writeForUser(entries);
    const env = { PLUGBOARD_PASSPHRASE: given["passphrase"] ?? "" };
    const { present } = place.browser;
    const { accessToken, refreshToken } = await signInByHand(place.auth.issuer, { resource: url });
    secrets.add(accessToken, refreshToken);
    const status: string[] = [];
    const output: string[] = [];
    let report = "";
    let said: string[] = [];
    const spawns = await watchSpawns(async () => {
      const watched = await openWatched(product, project, env);
      const { host } = watched;
      ({ said } = watched);
      const trying = async (task: () => Promise<unknown>): Promise<boolean> => {
        try {
          said.push(inspect(await task(), { depth: 9 }));
          return true;
        } catch (error) {
          said.push(inspect(error, { depth: 9 }), JSON.stringify(error), String(error));
          return false;
        }
      };
      const mustWork = async (task: () => Promise<unknown>): Promise<void> => {
        if (!(await trying(task))) figures["sign-ins that failed"] += 1;
      };
      await trying(() => host.login("pasted", { token: given["bad-token"] ?? "" }));
      await call(host, "pasted", said);
      await mustWork(() => host.login("pasted", { token: accessToken }));
      await mustWork(() => host.login("app", { present }));
      await mustWork(() => host.login("hand", { present }));
      const names = Object.keys(entries);
      for (const end of [
        () => undefined,
        () => place.auth.expire(),
        () => place.auth.revokeAll(),
      ]) {
        end();
        for (const name of names) await call(host, name, said);
      }
      // Refused by the issuer: the words of its error are in ours.
      await trying(() => host.login("app", { rotate: true }));
      await mustWork(() => host.login("app", { present, force: true }));
      status.push(inspect(await host.audit.query(), { depth: 9 }));
      status.push(inspect(host.servers(), { depth: 9 }), JSON.stringify(host.servers()));
      for (const name of names) {
        status.push(inspect(await host.signIn(name).catch(String)), ...host.logs(name));
        await host.editableEntry(name).then(
          (entry) => status.push(JSON.stringify(entry)),
          () => undefined,
        );
      }
      figures["in files"] += await secrets.sightings(filesBelow(project.home));
      report = JSON.stringify(process.report.getReport(new Error("a crash")));
      const isShort = lab.form === "short";
      const commands = [
        ["list", "--json"],
        ...(isShort
          ? []
          : [
              ["list", "--check", "--json"],
              ["doctor", "--json"],
            ]),
        ...(isShort ? ["app"] : names).flatMap((name) => [
          ["get", name, "--json"],
          ["logs", name],
        ]),
        ["doctor", "app"],
        ["audit", "--json"],
        ["call", "app", "echo", "message=hello"],
        ["login", "app", "--rotate"],
        ["login", "hand", "--no-browser", "--timeout", "1s"],
        ["logout", "hand"],
      ];
      for (const words of commands) {
        const { stdout, stderr } = await runCommand(project, words, { env });
        output.push(stdout, stderr);
      }
      const { stdout, stderr } = await runCommand(project, ["login", "pasted", "--token", "-"], {
        env,
        input: `${given["bad-token"]}\n`,
      });
      output.push(stdout, stderr);
      for (const name of ["app", "pasted", "robot"]) await trying(() => host.logout(name));
      secrets.addFrom(place);
      figures["in files"] += await secrets.sightings(filesBelow(project.home));
      await host.close();
    });
    figures["in files"] += await secrets.sightings(filesBelow(project.home));
    figures["in logs, events and errors"] += await secrets.sightings(said);
    figures["in status and audit"] += await secrets.sightings(status);
    figures["in output of commands"] += await secrets.sightings(output);
    figures["in a diagnostic report"] += await secrets.sightings([report]);
    figures["in words of children"] += await secrets.sightings(
      spawns.map(({ process: child }) => child.spawnargs.join(" ")),
    );
    figures["secrets looked for"] = secrets.count;
  }
  return { ...figures, "too few secrets": Number(figures["secrets looked for"] < 20) };
}

/** A host that is signed in to one server, and uses another. */
async function lookElsewhere(lab: Lab, product: Product): Promise<Figures> {
  const figures = {
    "at the other server and its issuer": 0,
    "in logs, events and audit": 0,
    "printed by the program": 0,
    "in files": 0,
    "calls failed": 0,
  };
  for (let round = 0; round < lab.count; round += 1) {
    using project = new Project();
    await using place = await SignInPlace.open({}, {}, product.createHost);
    await using other = await SignInPlace.open({}, {}, product.createHost);
    project.writeForUser({ app: { url: place.server.url }, other: { url: other.server.url } });
    const secrets = new Secrets();
    const { present } = place.browser;
    const { host, said } = await openWatched(product, project, {});
    const library = lab.form === "short" && !isBuilt() ? "src/index.ts" : "dist/index.js";
    const store = path.join(project.home, ".plugboard", "plugboard.db");
    const { home } = project;
    await host.login("app", { present });
    await using process = await HostProcess.start({ home, store, url: place.server.url, library });
    for (let renewal = 0; renewal < 3; renewal += 1) {
      await call(host, "app", said);
      // Nobody is signed in there yet: it says whom to ask, and is told nothing.
      await host.connect("other").catch((error: unknown) => said.push(inspect(error)));
      const { ends } = await process.call(2);
      figures["calls failed"] += ends.filter((end) => end !== "ok").length;
      place.auth.expire();
    }
    said.push(inspect(await host.audit.query(), { depth: 9 }));
    await host.login("other", { present: other.browser.present });
    await call(host, "other", said);
    await host.logout("app");
    secrets.addFrom(place);
    if (secrets.count < 5) figures["calls failed"] += 1;
    const elsewhere = JSON.stringify([other.server.requests, other.auth.requests]);
    figures["at the other server and its issuer"] += await secrets.sightings([elsewhere]);
    figures["in logs, events and audit"] += await secrets.sightings(said);
    figures["printed by the program"] += await secrets.sightings([process.said]);
    figures["in files"] += await secrets.sightings(filesBelow(home));
    await host.close();
  }
  return figures;
}

export const signInSecretRows: readonly Row[] = [
  {
    id: "G12",
    trigger: "a token for one server, and all traffic of another, logs, files and output",
    expected: "it appears at its server and its issuer, and nowhere else",
    measured:
      "access tokens, refresh tokens and codes of three renewals, in a host and in a process beside it",
    criteria: zero(
      "at the other server and its issuer",
      "in logs, events and audit",
      "printed by the program",
      "in files",
      "calls failed",
    ),
    servers: {},
    isBusy: true,
    counts: { short: 1, normal: 5, long: 20 },
    attack: lookElsewhere,
  },
  {
    id: "I6",
    trigger: "20 secrets and more of a sign-in, through all that can be done with it",
    expected: "in clear text nowhere",
    measured:
      "secrets of clients, tokens, codes, a private key, a passphrase: sign-ins, calls, renewals, refusals, the command line; then every file below the home (database, its logs, keys), as they are and in base64",
    criteria: zero(
      "in logs, events and errors",
      "in status and audit",
      "in output of commands",
      "in words of children",
      "in a diagnostic report",
      "in files",
      "sign-ins that failed",
      "too few secrets",
    ),
    servers: {},
    isBusy: true,
    counts: { short: 1, normal: 2, long: 10 },
    attack: showCanaries,
  },
];
