import { hostileHttpEntry } from "../hostile/hostile-http-entry.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";
import { isHonest } from "./planned-calls.ts";

const kinds = ["plain", "accents", "blanks", "long"];

async function countsOf(lab: Lab, server: string): Promise<Readonly<Record<string, number>>> {
  const { counts = {} } = await lab.site(server).report();
  return counts;
}

async function nameSessions(lab: Lab): Promise<Figures> {
  const figures = { "failed calls": 0, "wrong names sent": 0, "max initializes": 0 };
  for (const server of kinds) {
    for (let nonce = 0; nonce < lab.count; nonce += 1) {
      const end = await lab.call({ server, args: { nonce } });
      if (!isHonest(end, String(nonce))) figures["failed calls"] += 1;
    }
    const { initializes = 0, wrong = 0 } = await countsOf(lab, server);
    figures["wrong names sent"] += wrong;
    figures["max initializes"] = Math.max(figures["max initializes"], initializes);
  }
  return figures;
}

/** How a call ends that finds its session gone, by server. With 400 that takes a ping to find out, too. */
const forgetful: Readonly<Record<string, readonly string[]>> = {
  says404: ["connection_lost"],
  says400: ["http_error", "connection_lost"],
};

/** Sessions that last for a few calls: a call that finds it gone fails, soon after there is a new one. */
async function outliveSessions(lab: Lab, server: string): Promise<Figures> {
  const before = await countsOf(lab, server);
  let wrongEnds = 0;
  let failed = 0;
  let inARow = 0;
  let mostInARow = 0;
  for (let nonce = 0; nonce < lab.count; nonce += 1) {
    const { ok, code } = await lab.call({ server, args: { nonce: String(nonce) } });
    inARow = ok ? 0 : inARow + 1;
    mostInARow = Math.max(mostInARow, inARow);
    if (!ok) failed += 1;
    if (!ok && forgetful[server]?.includes(code) !== true) wrongEnds += 1;
  }
  const after = await countsOf(lab, server);
  const grown = (name: string): number => (after[name] ?? 0) - (before[name] ?? 0);
  return {
    [`wrong ends, ${server}`]: wrongEnds,
    [`failures in a row, ${server}`]: mostInARow,
    [`sessions without a loss, ${server}`]: Math.max(0, grown("initializes") - failed - 1),
    [`executed unanswered, ${server}`]: grown("executed") - (lab.count - failed),
  };
}

/** A session that nobody ever knows again: each call may try anew, and does so no more than twice. */
async function neverHaveSession(lab: Lab): Promise<Figures> {
  const server = "none";
  const calls = Math.ceil(lab.count / 6);
  const before = await countsOf(lab, server);
  let answered = 0;
  for (let round = 0; round < calls; round += 1)
    if ((await lab.call({ server, args: {} })).ok) answered += 1;
  const after = await countsOf(lab, server);
  const sessions = (after["initializes"] ?? 0) - (before["initializes"] ?? 0);
  return { "answered without a session": answered, "loops, sessions": sessions / calls };
}

async function mismatchHeaders(lab: Lab): Promise<Figures> {
  const server = "hostile";
  const before = await countsOf(lab, server);
  let wrongEnds = 0;
  for (let nonce = 0; nonce < lab.count; nonce += 1) {
    const { code } = await lab.call({ server, args: { nonce: String(nonce) } });
    if (code !== "rpc_error") wrongEnds += 1;
  }
  const after = await countsOf(lab, server);
  const perCall = (name: string): number => ((after[name] ?? 0) - (before[name] ?? 0)) / lab.count;
  return {
    "wrong ends": wrongEnds,
    "loops, calls": perCall("calls"),
    "loops, lists": perCall("lists"),
    "dead afterwards": Number(!(await lab.isAlive(server))),
  };
}

export const sessionRows: readonly Row[] = [
  {
    id: "F8",
    trigger: "session-evil",
    expected: "calls work; only names that a header may hold are repeated",
    measured: `calls to servers that call their session ${kinds.join(", ")}, and each time otherwise later`,
    criteria: [
      { figure: "failed calls", atMost: 0 },
      { figure: "wrong names sent", atMost: 0 },
      { figure: "max initializes", atMost: 1 },
    ],
    servers: Object.fromEntries(
      kinds.map((kind) => [kind, hostileHttpEntry("session-evil", { parameters: { kind } })]),
    ),
    counts: { short: 3, normal: 50, long: 500 },
    attack: nameSessions,
  },
  {
    id: "F8",
    trigger: "session-expire",
    expected: "one new session for each loss, later calls work",
    measured:
      "calls one after another to servers that forget a session after five requests, and to one that never knows any",
    criteria: [
      ...Object.keys(forgetful).flatMap((server) => [
        { figure: `wrong ends, ${server}`, atMost: 0 },
        { figure: `sessions without a loss, ${server}`, atMost: 0 },
        { figure: `executed unanswered, ${server}`, atMost: 0 },
      ]),
      { figure: "failures in a row, says404", atMost: 1 },
      { figure: "failures in a row, says400", atMost: 5 },
      { figure: "answered without a session", atMost: 0 },
      { figure: "loops, sessions", atMost: 2 },
    ],
    servers: {
      says404: hostileHttpEntry("session-expire", { parameters: { after: 5, status: 404 } }),
      says400: hostileHttpEntry("session-expire", { parameters: { after: 5, status: 400 } }),
      none: hostileHttpEntry("session-expire", { parameters: { after: 0 } }),
    },
    counts: { short: 12, normal: 200, long: 2_000 },
    async attack(lab) {
      const servers = Object.keys(forgetful);
      const outlived = await Promise.all(servers.map((server) => outliveSessions(lab, server)));
      return Object.assign({}, ...outlived, await neverHaveSession(lab)) as Figures;
    },
  },
  {
    id: "F8",
    trigger: "header-mismatch-loop",
    expected: "listed again once, sent again once",
    measured: "calls that are refused for their headers each time; what the server gets for each",
    criteria: [
      { figure: "wrong ends", atMost: 0 },
      { figure: "loops, calls", atMost: 2 },
      { figure: "loops, lists", atMost: 2 },
      { figure: "dead afterwards", atMost: 0 },
    ],
    servers: { hostile: hostileHttpEntry("header-mismatch-loop") },
    counts: { short: 3, normal: 100, long: 1_000 },
    attack: mismatchHeaders,
  },
];
