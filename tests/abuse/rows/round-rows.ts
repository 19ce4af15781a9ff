import { hostileEntry } from "../hostile/hostile-entry.ts";
import type { Lab } from "../lab.ts";
import type { HostOptions } from "../product.ts";
import type { Figures, Row } from "../row.ts";

const server = "hostile";
const maxRounds = 8;

interface Rounds {
  readonly requests: number;
  readonly answered: number;
  readonly granted: number;
}

async function roundsOf(lab: Lab, name: string): Promise<Rounds> {
  const { structured } = await lab.call({ server: name, args: { report: true } });
  return (structured ?? { requests: Number.NaN, answered: 0, granted: 0 }) as Rounds;
}

/** Nobody is asked between its rounds, so each waits a little. */
const pacedLoop = "request-state-loop";
const pauseMs = 200;
const loops = ["input-required-loop", pacedLoop];

async function goRound(lab: Lab): Promise<Figures> {
  const figures = {
    "ends other than protocol_violation": 0,
    "max requests for a call": 0,
    "max s": 0,
    "ms too fast": 0,
    "dead afterwards": 0,
  };
  const repeat = async (name: string): Promise<void> => {
    for (let round = 0; round < lab.count; round += 1) {
      const { requests: before } = await roundsOf(lab, name);
      const { code, tookMs } = await lab.call({ server: name, args: {}, timeoutMs: 10_000 });
      const { requests } = await roundsOf(lab, name);
      const most = Math.max(figures["max requests for a call"], requests - before);
      figures["max requests for a call"] = most;
      figures["max s"] = Math.max(figures["max s"], tookMs / 1_000);
      if (code !== "protocol_violation") figures["ends other than protocol_violation"] += 1;
      if (name === pacedLoop)
        figures["ms too fast"] = Math.max(figures["ms too fast"], maxRounds * pauseMs - tookMs);
    }
    if (!(await lab.isAlive(name))) figures["dead afterwards"] += 1;
  };
  await Promise.all(loops.map(repeat));
  return figures;
}

async function refuseUndeclared(lab: Lab): Promise<Figures> {
  let wrongEnds = 0;
  for (let round = 0; round < lab.count; round += 1) {
    const { code } = await lab.call({ server, args: {} });
    if (code !== "protocol_violation") wrongEnds += 1;
  }
  const { requests, answered } = await roundsOf(lab, server);
  return {
    "ends other than protocol_violation": wrongEnds,
    answered,
    "requests repeated": requests - lab.count,
    "dead afterwards": Number(!(await lab.isAlive(server))),
  };
}

const evilUrls = 6;

/** A person who agrees to everything, and what came before them. */
const agreeing = { asked: 0, opened: 0 };
const human: HostOptions["human"] = {
  elicit() {
    agreeing.asked += 1;
    return Promise.resolve({ action: "accept" });
  },
  openUrl() {
    agreeing.opened += 1;
    return Promise.resolve();
  },
};

async function openEvil(lab: Lab): Promise<Figures> {
  const before = { ...agreeing };
  let untyped = 0;
  for (let round = 0; round < lab.count; round += 1)
    for (let n = 0; n < evilUrls; n += 1) {
      const { ok, code } = await lab.call({ server, args: { n } });
      if (ok || code === "") untyped += 1;
    }
  const { granted } = await roundsOf(lab, server);
  return {
    "calls not refused": untyped,
    "people asked": agreeing.asked - before.asked,
    "addresses opened": agreeing.opened - before.opened,
    granted,
    "dead afterwards": Number(!(await lab.isAlive(server))),
  };
}

const alive = { figure: "dead afterwards", atMost: 0 } as const;
const violation = { figure: "ends other than protocol_violation", atMost: 0 } as const;

export const roundRows: readonly Row[] = [
  {
    id: "E1",
    trigger: loops.join(", "),
    expected: "stop at 8 rounds; backoff where nobody is asked",
    measured: "calls to both at once; each server counts its requests",
    criteria: [
      violation,
      { figure: "max requests for a call", atMost: 1 + maxRounds },
      { figure: "ms too fast", atMost: 0 },
      alive,
    ],
    servers: Object.fromEntries(loops.map((mode) => [mode, hostileEntry(mode)])),
    answers: { roots: [] },
    counts: { short: 1, normal: 5, long: 10 },
    attack: goRound,
  },
  {
    id: "E2",
    trigger: "input-required-undeclared",
    expected: "refused, nothing answered",
    measured: "calls that ask for sampling and roots, of a client that declared neither",
    criteria: [
      violation,
      { figure: "answered", atMost: 0 },
      { figure: "requests repeated", atMost: 0 },
      alive,
    ],
    servers: { [server]: hostileEntry("input-required-undeclared") },
    counts: { short: 2, normal: 100, long: 1_000 },
    attack: refuseUndeclared,
  },
  {
    id: "E3",
    trigger: `elicit-url-evil n=0..${evilUrls - 1}`,
    expected: "bad addresses refused unseen",
    measured:
      "calls that want an address opened: another scheme, a file, hidden characters, an option, a password, metadata of a cloud; a person who agrees to everything",
    criteria: [
      { figure: "people asked", atMost: 0 },
      { figure: "addresses opened", atMost: 0 },
      { figure: "granted", atMost: 0 },
      { figure: "calls not refused", atMost: 0 },
      alive,
    ],
    servers: { [server]: hostileEntry("elicit-url-evil") },
    answers: { human },
    counts: { short: 1, normal: 20, long: 200 },
    attack: openEvil,
  },
];
