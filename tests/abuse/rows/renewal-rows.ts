import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";

import { isBuilt } from "../../../scripts/build-dist.mjs";
import type { AuthorizationServerOptions } from "../../../src/testing/index.ts";
import { HostProcess, type HostProcessOptions } from "../../fixtures/oauth/host-process.ts";
import { SignInPlace } from "../../fixtures/oauth/sign-in-place.ts";
import { environmentKey } from "../../fixtures/secrets/open-vault.ts";
import { findPostgres, startPostgres } from "../../fixtures/store/postgres-server.ts";
import type { Lab } from "../lab.ts";
import type { Product } from "../product.ts";
import { type Figures, type Row, zero } from "../row.ts";

const limits = { maxConnectionsPerAddress: 250 };

/** Where the hosts of a row keep their sign-in: the file of the place, or a database that needs a key of its own. */
type Shared = Partial<Pick<HostProcessOptions, "store" | "env">>;

interface Hosts {
  readonly place: SignInPlace;
  /** Another host of the same person. */
  readonly start: () => Promise<HostProcess>;
  /** A person signs in, whatever became of the sign-in before. */
  readonly signIn: () => Promise<void>;
  readonly refreshes: () => number;
}

interface HostsOptions {
  readonly refresh: AuthorizationServerOptions["refresh"];
  readonly expireEvery?: number;
  readonly shared?: Shared;
}

async function openHosts(
  { form }: Lab,
  product: Product,
  { refresh, expireEvery, shared = {} }: HostsOptions,
): Promise<Hosts & AsyncDisposable> {
  const place = await SignInPlace.open({ refresh }, { expireEvery, limits }, product.createHost);
  const { home, server, auth, browser } = place;
  const { store = place.store, env } = shared;
  const library = form === "short" && !isBuilt() ? "src/index.ts" : "dist/index.js";
  const started: HostProcess[] = [];
  return {
    place,
    start: async () => {
      const host = await HostProcess.start({ home, store, url: server.url, library, env });
      started.push(host);
      return host;
    },
    signIn: async () => {
      await using host = await place.host(undefined, { store, ...(env && { env }) });
      await host.login("app", { present: browser.present, force: true });
    },
    refreshes: () => auth.counts.token.refresh_token ?? 0,
    async [Symbol.asyncDispose]() {
      await Promise.all(started.map((host) => host.kill()));
      await place[Symbol.asyncDispose]();
    },
  };
}

/** Two processes, so many calls at once, and a token that ends under all of them or after every second call. */
async function renewTogether(hosts: Hosts, calls: number, uses: number): Promise<Figures> {
  const { place, start, signIn, refreshes } = hosts;
  const { auth } = place;
  await signIn();
  const pair = [await start(), await start()];
  // All code is loaded before they are set on each other.
  for (const host of pair) await host.call(1);
  let failed = 0;
  let expiries = 0;
  const before = refreshes();
  const rounds = Number.isFinite(uses) ? 1 : 5;
  for (let round = 0; round < rounds; round += 1) {
    auth.expire();
    expiries += Number.isFinite(uses) ? 1 + Math.floor((calls - 1) / uses) : 1;
    const reports = await Promise.all(pair.map((host) => host.call(calls / pair.length)));
    failed += reports.flatMap(({ ends }) => ends).filter((end) => end !== "ok").length;
  }
  const renewed = refreshes() - before;
  return {
    "calls failed": failed,
    invalid_grant: auth.counts.invalidGrant,
    "refresh tokens used twice": auth.counts.refreshReuse,
    "refreshes beyond one for each expiry": Math.max(0, renewed - expiries),
    refreshes: renewed,
    expiries,
  };
}

function onFile(uses: number): Row["attack"] {
  return async (lab, product) => {
    const expireEvery = Number.isFinite(uses) ? { expireEvery: uses } : {};
    await using hosts = await openHosts(lab, product, { refresh: "rotate-strict", ...expireEvery });
    return await renewTogether(hosts, lab.count, uses);
  };
}

/** Processes on several machines have a database in common, and no key in a file. */
function onPostgres(uses: number): Row["attack"] {
  return async (lab, product) => {
    const source = findPostgres();
    if (source.kind === "none")
      return { ...Object.fromEntries(sharedFigures.map((name) => [name, 0])), "not tried": 1 };
    await using postgres = await startPostgres(source);
    const env = { PLUGBOARD_SECRET_KEY: environmentKey };
    await using hosts = await openHosts(lab, product, {
      refresh: "rotate-strict",
      expireEvery: uses,
      shared: { store: await postgres.createDatabase(), env },
    });
    return await renewTogether(hosts, lab.count, uses);
  };
}

const sharedFigures = [
  "calls failed",
  "invalid_grant",
  "refresh tokens used twice",
  "refreshes beyond one for each expiry",
];

/** When a host is killed: while the issuer holds its request, with the answer on its way, or some time after. */
const moments = ["before the answer", "at the answer", "after the answer"] as const;

async function killWhileRenewing(lab: Lab, hosts: Hosts, isStrict: boolean): Promise<Figures> {
  const { place, start, signIn } = hosts;
  const { auth } = place;
  const figures = {
    "lock-outs": 0,
    "other ends": 0,
    "kills missed": 0,
    "max s until the next host has called": 0,
  };
  const ended = Object.fromEntries(moments.map((moment) => [`needs_auth, ${moment}`, 0]));
  await signIn();
  let next = await start();
  for (let round = 0; round < lab.count; round += 1) {
    const moment = moments[round % moments.length] ?? moments[0];
    const victim = next;
    auth.expire();
    const held = auth.holdTokenRequests();
    const call = victim.call(1);
    await held.until(1);
    if (moment === "before the answer") await victim.kill();
    held.release();
    // The answer has been written when the timers of this turn are over; the host needs some time to keep it.
    if (moment === "at the answer") await nextTurn();
    if (moment === "after the answer") await delay((round * 7) % 40);
    await victim.kill();
    const { ends } = await call;
    if (moment === "before the answer" && ends[0] !== "killed") figures["kills missed"] += 1;
    next = await start();
    const startedAt = performance.now();
    const [end] = (await next.call(1)).ends;
    const tookS = (performance.now() - startedAt) / 1_000;
    figures["max s until the next host has called"] = Math.max(
      figures["max s until the next host has called"],
      tookS,
    );
    if (end === "ok") continue;
    if (end !== "auth_required") figures["other ends"] += 1;
    else if (!isStrict) figures["lock-outs"] += 1;
    ended[`needs_auth, ${moment}`] = (ended[`needs_auth, ${moment}`] ?? 0) + 1;
    await signIn();
  }
  return { ...figures, ...ended };
}

async function stopWhileRenewing(lab: Lab, product: Product): Promise<Figures> {
  await using hosts = await openHosts(lab, product, { refresh: "rotate" });
  const { place, start, signIn } = hosts;
  const { auth } = place;
  await signIn();
  const [one, other] = [await start(), await start()];
  const figures = { "calls failed": 0, "sign-ins lost": 0, "max s held up": 0 };
  const count = (ends: readonly string[]): void => {
    figures["calls failed"] += ends.filter((end) => end !== "ok").length;
  };
  for (const host of [one, other]) count((await host.call(1)).ends);
  for (let round = 0; round < lab.count; round += 1) {
    auth.expire();
    const held = auth.holdTokenRequests();
    const stopped = one.call(1);
    await held.until(1);
    one.signal("SIGSTOP");
    held.release();
    const startedAt = performance.now();
    count((await other.call(1)).ends);
    const heldUpS = (performance.now() - startedAt) / 1_000;
    figures["max s held up"] = Math.max(figures["max s held up"], heldUpS);
    one.signal("SIGCONT");
    count((await stopped).ends);
    for (const host of [one, other, one]) {
      auth.expire();
      count((await host.call(2)).ends);
    }
  }
  await using later = await place.host();
  const status = await later.signIn("app");
  if (status?.canRenew !== true) figures["sign-ins lost"] += 1;
  return figures;
}

/** This process only serves what the hosts talk to. */
const stallAllowance = {
  atMostMs: Number.POSITIVE_INFINITY,
  reason:
    "the hosts run in processes of their own; the issuer and its server are served by this one",
} as const;

const together = {
  criteria: zero(...sharedFigures),
  servers: {},
  isBusy: true,
  stallAllowance,
  counts: { short: 20, normal: 100, long: 400 },
} as const;

export const renewalRows: readonly Row[] = [
  {
    ...together,
    id: "G9",
    trigger: "a token that ends under two host processes and so many calls",
    expected: "one of them renews it, for all calls of both",
    measured:
      "two processes share a store (SQLite), the issuer takes a second use of a refresh token for theft; five times the token ends, and all calls begin at once",
    attack: onFile(Number.POSITIVE_INFINITY),
  },
  {
    ...together,
    id: "G10",
    trigger: "a token that ends with every second call, two processes, so many calls",
    expected: "one refresh each time, every call gets through",
    measured:
      "as above, and the server lets two calls in with each token: all others are refused, and go on with the next",
    attack: onFile(2),
  },
  {
    ...together,
    id: "G10",
    trigger: "the same two processes on one Postgres, with a key in the environment",
    expected: "one refresh each time, every call gets through",
    measured: "as above; without a Postgres on this machine it is not tried",
    attack: onPostgres(2),
  },
  {
    id: "G9",
    trigger: "kill -9 of a host while it renews; an old token works until the new one is used",
    expected: "nobody is locked out, the next host renews and calls at once",
    measured:
      "hosts are killed while the issuer holds their request, with the answer on its way, and up to 40 ms after; then a new host calls",
    criteria: [
      ...zero("lock-outs", "other ends", "kills missed"),
      { figure: "max s until the next host has called", atMost: 5, isPhysical: true },
    ],
    servers: {},
    isBusy: true,
    stallAllowance,
    counts: { short: 10, normal: 33, long: 100 },
    attack: async (lab, product) => {
      await using hosts = await openHosts(lab, product, { refresh: "rotate" });
      return await killWhileRenewing(lab, hosts, false);
    },
  },
  {
    id: "G9",
    trigger: "the same where a second use of a refresh token counts as theft",
    expected: "the next host calls, or says that a sign-in is needed; no loop, no wait",
    measured:
      "as above; nobody can know a token that was issued to a process that is dead, so how often that ends in a new sign-in is told, and that it ends in nothing else is judged",
    criteria: [
      ...zero("lock-outs", "other ends", "kills missed"),
      { figure: "max s until the next host has called", atMost: 5, isPhysical: true },
    ],
    servers: {},
    isBusy: true,
    stallAllowance,
    counts: { short: 3, normal: 33, long: 100 },
    attack: async (lab, product) => {
      await using hosts = await openHosts(lab, product, { refresh: "rotate-strict" });
      return await killWhileRenewing(lab, hosts, true);
    },
  },
  {
    id: "G9",
    trigger: "a host that is stopped while it renews, and goes on later",
    expected: "the other one waits for some seconds, nothing is lost afterwards",
    measured:
      "SIGSTOP while the issuer holds the request; the other host calls; SIGCONT; then both call, and renew in turn",
    criteria: [
      ...zero("calls failed", "sign-ins lost"),
      { figure: "max s held up", atMost: 10, isPhysical: true },
    ],
    servers: {},
    isBusy: true,
    stallAllowance,
    counts: { short: 1, normal: 3, long: 20 },
    attack: stopWhileRenewing,
  },
];
