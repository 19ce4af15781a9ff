import { hostileHttpEntry } from "../hostile/hostile-http-entry.ts";
import type { Lab } from "../lab.ts";
import type { Figures, Row } from "../row.ts";
import { isHonest } from "./planned-calls.ts";

const kinds = ["plain", "accents", "blanks", "long", "empty"];

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

/** Sessions that last for a few calls: the call that finds it gone fails, the next one has a new session. */
async function outliveSessions(lab: Lab): Promise<Figures> {
  const server = "some";
  const figures = { "failed calls": 0, "wrong ends": 0, "failed twice in a row": 0 };
  const before = await countsOf(lab, server);
  let hasFailed = false;
  let succeeded = 0;
  for (let nonce = 0; nonce < lab.count; nonce += 1) {
    const end = await lab.call({ server, args: { nonce: String(nonce) } });
    if (end.ok) succeeded += 1;
    else {
      figures["failed calls"] += 1;
      if (end.code !== "connection_lost") figures["wrong ends"] += 1;
      if (hasFailed) figures["failed twice in a row"] += 1;
    }
    hasFailed = !end.ok;
  }
  const after = await countsOf(lab, server);
  const grown = (name: string): number => (after[name] ?? 0) - (before[name] ?? 0);
  return {
    ...figures,
    sessions: grown("initializes"),
    "sessions over one for each loss": Math.max(
      0,
      grown("initializes") - figures["failed calls"] - 1,
    ),
    "executed without being answered": grown("executed") - succeeded,
  };
}

/** A session that nobody ever knows again: each call may try anew, and does so no more than twice. */
async function neverHaveSession(lab: Lab): Promise<Figures> {
  const server = "none";
  const calls = Math.min(lab.count, 20);
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
      "calls one after another to a server that forgets a session after five requests, and to one that never knows any",
    criteria: [
      { figure: "wrong ends", atMost: 0 },
      { figure: "failed twice in a row", atMost: 0 },
      { figure: "sessions over one for each loss", atMost: 0 },
      { figure: "executed without being answered", atMost: 0 },
      { figure: "answered without a session", atMost: 0 },
      { figure: "loops, sessions", atMost: 2 },
    ],
    servers: {
      some: hostileHttpEntry("session-expire", { parameters: { after: 5 } }),
      none: hostileHttpEntry("session-expire", { parameters: { after: 0 } }),
    },
    counts: { short: 12, normal: 200, long: 2_000 },
    attack: async (lab) => ({ ...(await outliveSessions(lab)), ...(await neverHaveSession(lab)) }),
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
